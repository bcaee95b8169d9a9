// The live page: a text box, what to look at, and below it the page that the program makes. Nothing is computed here. The
// program runs in a worker (worker.js); this file brings it its files, asks, shows the answers, and keeps the state in the address.
'use strict';

const element = id => document.getElementById(id);
const utf8 = new TextDecoder();

// ---------------------------------------------------------------------------------------------------------
// 1. The files of the program and of gpt2-mini. A page from a disk may not fetch, but it may load scripts: each file
// comes as scripts that hand over its pieces, compressed and in base64 (lessons/live packs them).

const onehead = {
  pieces: {},
  take(name, number, base64) {
    const text = atob(base64), bytes = new Uint8Array(text.length);
    for (let i = 0; i < bytes.length; ++i) bytes[i] = text.charCodeAt(i);
    (this.pieces[name] ??= [])[number - 1] = bytes;
  },
};

function loadScript(source) {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = source;
    script.onload = () => { script.remove(); resolve(); };
    script.onerror = () => reject(new Error(`${source}: cannot be loaded; copy the folder of this page again, all of it`));
    document.head.append(script);
  });
}

// Blobs by name: they live outside of the page's memory, and a worker that is begun anew gets them again.
async function loadFiles(list, progress) {
  const blobs = {};
  const all = list.reduce((sum, [, count]) => sum + count, 0);
  let done = 0;
  await Promise.all(list.map(async ([name, count]) => {
    await Promise.all(Array.from({length: count}, async (_, i) => {
      await loadScript(`files/${name}.${i + 1}.js`);
      progress(++done, all);
    }));
    const compressed = new Blob(onehead.pieces[name]);
    delete onehead.pieces[name];
    blobs[name] = await new Response(compressed.stream().pipeThrough(new DecompressionStream('gzip'))).blob();
  }));
  return blobs;
}

// ---------------------------------------------------------------------------------------------------------
// 2. The program: one question at a time. Of the questions that wait, a newer one of a kind takes the older one's place.

const PATIENCE = 700;  // ms that a question may take when newer ones wait; then the program is begun anew

class Program {
  constructor(blobs, {said, broke}) {
    Object.assign(this, {blobs, said, broke, own: null, waiting: new Map(), number: 0, generation: 0});
    this.source = URL.createObjectURL(new Blob([blobs['module.js'], '\n', blobs['worker.js']], {type: 'text/javascript'}));
    this.begin();
  }

  begin() {
    this.worker?.terminate();
    clearTimeout(this.timer);
    this.running = null;
    this.ready = false;
    this.worker = new Worker(this.source);
    this.worker.onmessage = ({data}) => this.hear(data);
    this.worker.onerror = event => this.fail(event.message);
    const files = ['config.json', 'merges.txt', 'vocab.json', 'model.safetensors']
      .map(name => ({path: `/data/gpt2-mini/${name}`, blob: this.blobs[name]}));
    this.worker.postMessage({wasm: this.blobs['module.wasm'], files, own: this.own});
  }

  // A model of the reader's disk, {name, files}, or none.
  use(own) {
    this.own = own;
    this.waiting.clear();
    this.begin();
  }

  // `then` gets the answer, unless a newer question of the kind comes first.
  ask(kind, question, then) {
    this.waiting.set(kind, {kind, question, then, generation: this.generation});
    this.next();
  }

  // What was asked before is no longer wanted.
  outdate() {
    ++this.generation;
    this.waiting.clear();
  }

  stop() {
    const stopped = this.running !== null;
    this.waiting.clear();
    if (stopped) this.begin();
    return stopped;
  }

  next() {
    if (!this.ready || this.waiting.size === 0) return;
    if (this.running) {
      if (this.running.generation === this.generation) return;
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.begin(), Math.max(0, this.running.started + PATIENCE - performance.now()));
      return;
    }
    const [kind, job] = this.waiting.entries().next().value;
    this.waiting.delete(kind);
    this.running = Object.assign(job, {started: performance.now(), number: ++this.number});
    const question = this.own ? {model: this.own.path, ...job.question} : job.question;
    this.worker.postMessage({number: job.number, question});
    this.said(job);
  }

  hear(data) {
    if (data.started) {
      this.ready = true;
    } else if (data.done !== undefined) {
      return this.said(this.running, data);
    } else if (data.broken !== undefined) {
      return this.fail(data.broken);
    } else {
      clearTimeout(this.timer);
      const job = this.running;
      this.running = null;
      if (job.generation === this.generation) job.then(answerOf(data.answer), data.milliseconds);
    }
    this.next();
    if (!this.running) this.said(null);
  }

  // The module cannot go on: its memory is used up, or a file of the disk cannot be read any more. One that cannot even begin is
  // not begun again.
  fail(why) {
    this.waiting.clear();
    if (!this.ready) {
      this.worker.terminate();
      return this.broke(`this browser cannot run the program (${why}); a newer one can: it needs WebAssembly with SIMD and exceptions`);
    }
    this.begin();
    this.broke(/memory|oom|allocation|out of bounds/i.test(why)
      ? 'out of memory; a shorter text needs less' : `the program broke off (${why}) and was begun anew`);
  }
}

// An answer's files: JSON as values, all else as bytes.
function answerOf(files) {
  const answer = {files};
  for (const [name, bytes] of Object.entries(files))
    if (name.endsWith('.json')) answer[name.slice(0, -5)] = JSON.parse(utf8.decode(bytes));
  return answer;
}

// ---------------------------------------------------------------------------------------------------------
// 3. The state: what is shown. It is in the address, so a link, a reload and Back bring it again.

const DEFAULTS = {text: 'The cat sat on the mat', layer: null, head: 0, row: null, experiment: '', show: 'trace',
                  with: '', 'with-experiment': 'unscaled', change: 1, word: 'dog', step: 'softmax', column: 0};
const NUMBERS = ['layer', 'head', 'row', 'change', 'column'];
const longest_address = 30000;  // characters; what does not fit is not kept, nor shown as a command

const state = {...DEFAULTS};
let isKept = true;  // whether the address has all of it

function readAddress() {
  Object.assign(state, DEFAULTS);
  for (const part of location.hash.slice(1).split('&')) {
    const at = part.indexOf('=');
    if (at < 0) continue;
    const [name, raw] = [part.slice(0, at), part.slice(at + 1)];
    let value;
    try { value = decodeURIComponent(raw); } catch { continue; }
    if (!Object.hasOwn(DEFAULTS, name)) continue;
    if (!NUMBERS.includes(name)) state[name] = value;
    else if (/^\d{1,9}$/.test(value)) state[name] = Number(value);
  }
}

function writeAddress(isStep) {
  const parts = Object.entries(state).filter(([name, value]) => value !== DEFAULTS[name] && value !== null)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  const hash = `#${parts.join('&')}`;
  isKept = hash.length <= longest_address;
  if (!isKept || hash === (location.hash || '#')) return;
  if (isStep) history.pushState(null, '', hash);
  else history.replaceState(null, '', hash);
}

// ---------------------------------------------------------------------------------------------------------
// 4. Questions and answers

let program, about;
let tokens = [];
let surveyed = '';   // what the grid of heads shows

// A text of a browser may hold half a character, which no UTF-8 has.
const whole = text => text.replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, '\uFFFD');

function run() {
  const question = {text: state.text, layer: state.layer, head: state.head};
  if (state.row !== null) question.row = state.row;
  if (state.experiment) question.experiment = state.experiment;
  return question;
}

function viewQuestion() {
  const question = {ask: state.show, ...run()};
  if (state.show === 'compare') {
    const [layer, head] = (state.with || `${state.layer}.${state.head}`).split('.').map(Number);
    question.with = {layer, head};
    if (state['with-experiment']) question.with.experiment = state['with-experiment'];
  }
  if (state.show === 'causality') {
    question.word = state.word;
    if (state.change < tokens.length) question.change = state.change;
  }
  if (state.show === 'worked') Object.assign(question, {step: state.step, column: state.column});
  return question;
}

let pause = 0;
const pending = () => pause !== 0 || document.querySelector('#page .coming') !== null;  // whether something is still to come

// Asks for all that the state shows. While somebody types, the tokens come at once, the rest after a short pause.
function refresh({isTyping = false} = {}) {
  if (!about) return;
  program.outdate();
  showCommand();
  program.ask('tokens', {ask: 'tokens', text: state.text}, answer => {
    if (!failed(answer)) showTokens(answer.tokens);
  });
  clearTimeout(pause);
  pause = setTimeout(askForPage, isTyping ? 200 : 0);
}

function askForPage() {
  pause = 0;
  writeAddress(false);
  program.ask('page', viewQuestion(), (answer, milliseconds) => {
    if (failed(answer)) return;
    element('error').textContent = '';
    element('fingerprint').textContent = answer.facts.fingerprint;
    element('took').textContent = `${tokens.length} tokens, ${milliseconds.toFixed(0)} ms`;
    markRow(answer.facts.row);
    showCommand();
    showPage(answer.files['page.html']);
  });
  const wanted = JSON.stringify([program.own?.path, state.text]);
  if (surveyed === wanted) return;
  program.ask('heads', {ask: 'heads', text: state.text}, answer => {
    if (failed(answer)) return;
    surveyed = wanted;
    showHeads(answer.heads, answer.files.pictures);
  });
}

// An answer that is an error is a sentence beside the text; what was shown before is no answer to this question.
function failed(answer) {
  if (!answer.error) return false;
  complain(answer.error.message, answer.error.field);
  return true;
}

function complain(message, field = '') {
  element('error').textContent = message;
  element('fingerprint').textContent = '';
  element('took').textContent = '';
  element('page').replaceChildren();
  element('text').setAttribute('aria-invalid', String(field === 'text'));
}

// The text, the head or something else was changed: a step that Back undoes. All that is typed in one go is one step, whose address
// follows after a pause, since browsers refuse to change it for every key.
let typed = '';  // what is being typed into: '' where nothing is

function change(changes, {typing = ''} = {}) {
  Object.assign(state, changes);
  if (!typing) showControls();
  if (!typing || typing !== typed) writeAddress(true);
  typed = typing;
  refresh({isTyping: typing !== ''});
}

// ---------------------------------------------------------------------------------------------------------
// 5. What is shown. Text goes into the page as text, never as markup.

function options(select, list, value) {
  select.replaceChildren(...list.map(([name, text]) => new Option(text, name)));
  select.value = value;
}

function made(tag, text, attributes = {}) {
  const one = Object.assign(document.createElement(tag), attributes);
  if (text !== undefined) one.textContent = text;
  return one;
}

function showTokens({tokens: list, notes}) {
  tokens = list;
  const most = 2000;
  element('tokens').replaceChildren(...list.slice(0, most).map((token, i) => {
    const item = made('li', undefined, {title: `token id ${token.id}`});
    item.dataset.row = i;
    item.append(made('small', i), made('span', token.label, {className: 'label', dir: 'ltr'}));
    return item;
  }));
  const says = isKept ? notes : [...notes, 'This text is too long for the address of the page: a link or a reload does not bring it.'];
  element('notes').textContent = says.join(' ');
  element('notes').hidden = says.length === 0;
  element('text').removeAttribute('aria-invalid');
  const rows = list.map((token, i) => [String(i), `${i} ${token.label}`]);
  if (state.row !== null && state.row >= list.length) {  // the text has become shorter
    state.row = null;
    writeAddress(false);
    refresh();
  }
  options(element('row'), rows, state.row);
  options(element('change'), [...rows, [String(list.length), 'nothing: let it follow at the end']], Math.min(state.change, list.length));
}

function markRow(row) {
  element('row').value = row;
  for (const item of element('tokens').children)
    if (Number(item.dataset.row) === row) item.setAttribute('aria-current', 'true');
    else item.removeAttribute('aria-current');
}

function makeGrid() {
  element('heads').replaceChildren(...about.layers.map(layer => {
    const line = made('div');
    for (let head = 0; head < about.n_head; ++head) {
      const label = made('label');
      const input = made('input', undefined, {type: 'radio', name: 'head', value: `${layer}.${head}`});
      input.setAttribute('aria-label', `Layer ${layer}, head ${head}`);
      label.append(input, made('canvas'), made('span', `${layer}.${head}`), made('small', '', {className: 'quiet'}));
      line.append(label);
    }
    return line;
  }));
}

let drawn = null;

function showHeads({heads, side}, pictures) {
  drawn = {heads, side, pictures};
  const style = getComputedStyle(document.documentElement);
  const colours = Array.from({length: 9}, (_, i) => style.getPropertyValue(`--p${i}`));
  element('heads').querySelectorAll('label').forEach((label, number) => {
    const canvas = label.querySelector('canvas'), figures = heads[number];
    canvas.width = canvas.height = side;
    const context = canvas.getContext('2d');
    for (let at = 0; at < side * side; ++at) {
      const shade = pictures[number * side * side + at];
      if (shade === 255) continue;  // later: nothing is read
      context.fillStyle = colours[shade];
      context.fillRect(at % side, Math.floor(at / side), 1, 1);
    }
    // What the text gives no occasion to measure is null.
    const [previous, first, induction, rows] = ['previous', 'first', 'induction', 'effective_rows'].map(name => figures[name]?.toFixed(2));
    label.title = `Layer ${figures.layer}, head ${figures.head}` + (previous === undefined ? ''
      : `. Mean over rows 1 and later: weight on the row before ${previous}, on row 0 ${first}`
        + (induction === undefined ? '' : `, on what followed the token earlier (induction) ${induction}`) + `; in effect a row reads ${rows} rows`);
    label.querySelector('small').textContent = '';
  });
  element('worth').textContent = '';
}

function showWorth({heads, says}) {
  const strongest = Math.max(...heads.map(head => head.worth));
  for (const {layer, head, worth} of heads) {
    const label = element('heads').querySelector(`input[value="${layer}.${head}"]`)?.parentElement;
    if (label) label.querySelector('small').textContent = worth < 0.0005 ? '0' : worth.toFixed(3);
  }
  element('worth').textContent = `${says} Below each head: how far that `
    + `distribution moves when the head is silenced, in nats (at most ${strongest.toFixed(3)}).`;
}

// The new page is loaded beside the old one, then takes its place where the reader was.
function showPage(bytes) {
  const box = element('page');
  box.querySelectorAll('.coming').forEach(frame => frame.remove());
  const frame = made('iframe', undefined, {className: 'coming', title: 'What came out'});
  frame.srcdoc = utf8.decode(bytes);
  frame.onload = () => {
    const inside = frame.contentDocument.documentElement;
    for (const old of box.querySelectorAll('iframe:not(.coming)')) {
      inside.scrollTop = old.contentDocument?.documentElement.scrollTop ?? 0;
      old.remove();
    }
    frame.classList.remove('coming');
    // A place on a page inside of a page: its address would be the outer one's.
    frame.contentDocument.addEventListener('click', event => {
      const place = event.target.closest?.('a[href^="#"]')?.getAttribute('href').slice(1);
      if (place === undefined) return;
      event.preventDefault();
      frame.contentDocument.getElementById(place)?.scrollIntoView();
    });
  };
  box.append(frame);
}

function showControls() {
  if (element('text').value !== state.text) element('text').value = state.text;
  for (const name of ['experiment', 'with-experiment', 'step', 'word', 'column', 'change']) element(name).value = state[name];
  element('with-head').value = state.with || `${state.layer}.${state.head}`;
  const chosen_experiment = about?.experiments.find(one => one.name === state.experiment);
  element('experiment-says').textContent = chosen_experiment ? `${chosen_experiment.name}: ${chosen_experiment.changes}` : '';
  element('view').value = state.show;
  for (const bar of document.querySelectorAll('[data-view]')) bar.hidden = bar.dataset.view !== state.show;
  const chosen = element('heads').querySelector(`input[value="${state.layer}.${state.head}"]`);
  if (chosen) chosen.checked = true;
}

const quoted = word => /^[\w./:=,@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

// The options of a run, as a shell takes them.
function runOptions() {
  const text = state.text.length > longest_address ? ' --text-file text.txt' : state.text.includes('\0') ? ` --tokens ${tokens.map(token => token.id).join(',')}`
    : state.text === about.own_text || state.text === DEFAULTS.text && !about.own_text ? ''
    : state.text.startsWith('-') ? ` --text=${quoted(state.text)}` : ` --text ${quoted(state.text)}`;
  return (program.own ? ` --model ${quoted(program.own.shown)}` : '') + text
    + (state.layer === about.layers[0] ? '' : ` --layer ${state.layer}`) + (state.head ? ` --head ${state.head}` : '');
}

function showCommand() {
  const row = state.row === null ? '' : ` --row ${state.row}`;
  const experiment = state.experiment ? ` --experiment ${quoted(state.experiment)}` : '';
  const trace = `onehead trace${runOptions()}${row}${experiment} --out trace --format text,csv,html`;
  const more = {
    trace: () => '',
    compare: () => {
      const {with: other} = viewQuestion(), shown = {...state};
      Object.assign(state, other);
      const options = runOptions();
      Object.assign(state, shown);
      return `\nonehead trace${options}${row}${other.experiment ? ` --experiment ${other.experiment}` : ''} --out other\nonehead compare trace other`;
    },
    causality: () => `\nonehead causality${runOptions()}${experiment} `
      + (state.change < tokens.length ? `--change ${quoted(`${state.change}=${state.word}`)}` : `--append ${quoted(state.word)}`),
    next: () => `\nonehead next${runOptions()}${row}${experiment} --top 10`,
    worked: () => `\nonehead worked ${state.step} ${element('row').value} ${state.column}${runOptions()}${experiment}`,
  };
  element('command').textContent = trace + more[state.show]();
}

// Long work says how far it is, and can be stopped.
let slow = 0;

function said(job, progress) {
  const bar = element('progress');
  if (progress) {
    bar.max = Math.max(1, progress.all);
    bar.value = progress.done;
    return;
  }
  clearTimeout(slow);
  const show = isBusy => {
    element('says').textContent = isBusy ? 'Working' : 'Ready';
    bar.hidden = element('stop').hidden = !isBusy;
  };
  if (!job) return show(false);
  bar.removeAttribute('value');
  slow = setTimeout(show, 300, true);
}

// ---------------------------------------------------------------------------------------------------------
// 6. Files for the reader, in an archive that compresses nothing (a zip).

const crcs = Uint32Array.from({length: 256}, (_, n) => {
  for (let bit = 0; bit < 8; ++bit) n = n & 1 ? 0xEDB88320 ^ (n >>> 1) : n >>> 1;
  return n;
});

function crc32(bytes) {
  let crc = 0xFFFFFFFF;
  for (const byte of bytes) crc = crcs[(crc ^ byte) & 255] ^ (crc >>> 8);
  return (crc ^ 0xFFFFFFFF) >>> 0;
}

// files: {name: bytes}
function zip(files) {
  const parts = [], entries = [];
  let at = 0;
  const put = (list, ...fields) => {  // pairs of size and value
    const view = new DataView(new ArrayBuffer(fields.reduce((sum, [size]) => sum + size, 0)));
    let offset = 0;
    for (const [size, value] of fields) {
      if (size === 2) view.setUint16(offset, value, true);
      else view.setUint32(offset, value, true);
      offset += size;
    }
    list.push(view);
    return offset;
  };
  const midnight = 0, first_of_1980 = 33, is_utf8 = 0x800, version = 20;
  let size_of_entries = 0;
  for (const [name, bytes] of Object.entries(files)) {
    const encoded = new TextEncoder().encode(name);
    const common = [[2, version], [2, is_utf8], [2, 0], [2, midnight], [2, first_of_1980], [4, crc32(bytes)],
                    [4, bytes.length], [4, bytes.length], [2, encoded.length], [2, 0]];
    const begin = at;
    at += put(parts, [4, 0x04034B50], ...common) + encoded.length + bytes.length;
    parts.push(encoded, bytes);
    size_of_entries += put(entries, [4, 0x02014B50], [2, version], ...common, [2, 0], [2, 0], [2, 0], [4, 0], [4, begin]) + encoded.length;
    entries.push(encoded);
  }
  const count = Object.keys(files).length;
  put(entries, [4, 0x06054B50], [2, 0], [2, 0], [2, count], [2, count], [4, size_of_entries], [4, at], [2, 0]);
  return new Blob([...parts, ...entries], {type: 'application/zip'});
}

function save(blob, name) {
  const address = URL.createObjectURL(blob);
  made('a', undefined, {href: address, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

function download() {
  program.ask('files', {ask: 'files', ...run(), format: 'text,csv,html'}, answer => {
    if (failed(answer)) return;
    const {'facts.json': _, ...files} = answer.files;
    save(zip(Object.fromEntries(Object.entries(files).map(([name, bytes]) => [`trace/${name}`, bytes]))), 'trace.zip');
  });
}

async function copyCommand() {
  const code = element('command');
  try {
    await navigator.clipboard.writeText(code.textContent);
  } catch {  // a page from a disk may not always
    getSelection().selectAllChildren(code);
    document.execCommand('copy');
  }
  element('copy').textContent = 'Copied';
  setTimeout(() => { element('copy').textContent = 'Copy the command'; }, 2000);
}

// ---------------------------------------------------------------------------------------------------------
// 7. The reader's own models

// The files of the folder that has a config.json, the topmost of those; of any folder where none has.
function useFolder(list) {
  const files = [...list];
  if (files.length === 0) return;
  const folderOf = file => file.webkitRelativePath.split('/').slice(0, -1);
  const folders = files.filter(file => file.name === 'config.json').map(folderOf).sort((a, b) => a.length - b.length);
  const path = (folders[0] ?? folderOf(files[0])).join('/');
  useModel(`/own/${path}`, path, files.filter(file => folderOf(file).join('/') === path));
}

function useModel(folder, shown, files, file = '') {
  program.use({name: folder, path: folder + file, shown, files: files.map(one => ({name: one.name, data: one}))});
  open();
}

// Asks the model what there is to choose from.
function open() {
  program.outdate();
  program.ask('about', {ask: 'about'}, answer => {
    if (failed(answer)) {
      program.use(null);
      return;
    }
    const isFirst = !about;
    about = answer.about;
    element('model').textContent = about.model;
    if (!isFirst && about.own_text) state.text = about.own_text;
    if (!about.layers.includes(state.layer)) {
      if (!isFirst || state.layer === null) state.layer = about.layers[0];
    }
    DEFAULTS.layer = about.layers[0];
    if (!isFirst && state.head >= about.n_head) state.head = 0;
    makeGrid();
    const none = ['', 'none: as GPT-2 computes it'];
    const experiments = [none, ...about.experiments.map(one => [one.name, one.name])];
    options(element('experiment'), experiments, state.experiment);
    options(element('with-experiment'), experiments, state['with-experiment']);
    options(element('step'), about.steps.map(name => [name.slice(3), name]), state.step);
    options(element('with-head'), about.layers.flatMap(layer => Array.from({length: about.n_head}, (_, head) => [`${layer}.${head}`, `${layer}.${head}`])));
    surveyed = '';
    showControls();
    refresh();
  });
}

// ---------------------------------------------------------------------------------------------------------
// 8. The reader acts

function listen() {
  const on = (id, event, act) => element(id).addEventListener(event, act);
  on('form', 'submit', event => event.preventDefault());
  for (const name of ['text', 'word']) {
    on(name, 'input', () => change({[name]: whole(element(name).value)}, {typing: name}));
    on(name, 'change', () => { typed = ''; });
  }
  on('tokens', 'click', event => {
    const item = event.target.closest('li');
    if (item) change({row: Number(item.dataset.row)});
  });
  on('heads', 'change', event => {
    const [layer, head] = event.target.value.split('.').map(Number);
    change({layer, head});
  });
  on('row', 'change', event => change({row: Number(event.target.value)}));
  on('with-head', 'change', event => change({with: event.target.value}));
  on('column', 'change', event => change({column: Math.max(0, Math.trunc(event.target.valueAsNumber || 0))}));
  on('change', 'change', event => change({change: Number(event.target.value)}));
  on('view', 'change', event => change({show: event.target.value}));
  for (const name of ['experiment', 'with-experiment', 'step']) on(name, 'change', event => change({[name]: event.target.value}));
  on('ask-worth', 'click', () => {
    const question = {ask: 'worth', text: state.text, ...(state.row === null ? {} : {row: state.row})};
    program.ask('worth', question, answer => failed(answer) || showWorth(answer.worth));
  });
  on('stop', 'click', () => {
    if (program.stop()) complain('Stopped; change the text or what is shown to go on');
    said(null);
  });
  on('download', 'click', download);
  on('copy', 'click', copyCommand);
  on('folder', 'change', event => useFolder(event.target.files));
  on('excerpt', 'change', event => {
    const [file] = event.target.files;
    if (file) useModel('/own', file.name, [file], `/${file.name}`);
  });
  on('bundled', 'click', () => {
    program.use(null);
    open();
  });
  addEventListener('popstate', () => {
    readAddress();
    state.layer ??= about?.layers[0] ?? null;
    typed = '';
    showControls();
    refresh();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => drawn && showHeads(drawn, drawn.pictures));
}

async function start() {
  readAddress();
  element('text').value = state.text;
  for (const bar of document.querySelectorAll('[data-view]')) bar.hidden = bar.dataset.view !== state.show;
  const bar = element('progress');
  try {
    const blobs = await loadFiles(JSON.parse(element('files').textContent), (done, all) => Object.assign(bar, {max: all, value: done}));
    program = new Program(blobs, {said, broke: message => complain(message)});
    listen();
    open();
  } catch (error) {
    complain(error.message);
    element('says').textContent = '';
    bar.hidden = true;
  }
}

start();
