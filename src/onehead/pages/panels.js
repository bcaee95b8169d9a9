// The page: its state, its address, and one function for each panel. It follows explore.js in the one script of a page,
// whose arithmetic it uses. A panel is a place in the page with a name (data-panel); `mount` fills those that it finds,
// so a lesson shows the panels that it wants, and a page may be mounted again with other data. A panel's function
// builds it once and returns what brings it up to date after the state has changed.

// ---------------------------------------------------------------------------------------------------------------
// What all panels use
// ---------------------------------------------------------------------------------------------------------------

// Elements. Text only ever becomes text: a token may look like markup.

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat().filter(child => child !== null && child !== undefined && child !== ''));
  return element;
}

function make(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function draw(name, attributes = {}, ...children) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);
}

// Changes an attribute only if it has another value: what stays needs no new style.
function change(element, name, value) {
  if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

// A drawing that says in words what it shows.
function drawing(width, height, says, ...children) {
  return draw('svg', {width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': says}, ...children);
}

// Numbers as the pages print them; see document.cpp.

function fixed(value, decimals) {
  const text = value.toFixed(decimals);
  return /^-[0.]*$/.test(text) ? text.slice(1) : text;
}

function weightText(value) {
  return value === 0 || value === 1 ? String(value) : fixed(value, 3).replace(/^0\./, '.');
}

function scoreText(value) {
  if (!Number.isFinite(value)) return value < 0 ? '-inf' : 'inf';
  return Math.abs(value) >= 1e7 ? value.toPrecision(3) : fixed(value, 2);
}

// The shortest decimals that read back to the same float32, as the CSVs have them: 0.0001, 9.9e-05.
function exactText(value) {
  if (!Number.isFinite(value)) return scoreText(value);
  if (Object.is(value, -0)) return '-0';
  let digits = 1;
  while (digits < 9 && Math.fround(Number(value.toPrecision(digits))) !== Math.fround(value)) ++digits;
  const shortest = Number(value.toPrecision(digits)), size = Math.abs(shortest);
  if (size === 0 || (size >= 1e-4 && size < 1e16)) return String(shortest);
  return shortest.toExponential().replace(/e([+-])(\d)$/, (_, sign, digit) => `e${sign}0${digit}`);
}

function cellText(step, value) {
  if (step.name === 'softmax') return weightText(value);
  return step.pairs ? scoreText(value) : fixed(value, 3);
}

function counted(count, thing) {
  return `${count} ${thing}${count === 1 ? '' : 's'}`;
}

// Shades, as class names of the style sheet; see picture.cpp.

function weightShade(value) {
  return `p${Math.min(8, Math.floor(Math.sqrt(Math.max(value, 0)) * 9))}`;
}

function signedShade(value, limit) {
  const shade = Math.max(-4, Math.min(4, Math.floor((value / limit + 1) / 2 * 9) - 4));
  return shade === 0 ? 'z' : `${shade < 0 ? 'n' : 'u'}${Math.abs(shade)}`;
}

function limitOf(values) {
  const sizes = Array.from(values, Math.abs).filter(Number.isFinite).sort((a, b) => a - b);
  return sizes[Math.floor((sizes.length - 1) * 0.99)] || 1;
}

// A formula with its indices lowered: "s_ij".
function formulaOf(symbols) {
  return symbols.split(/(_[A-Za-z0-9]+)/).map(part => part.startsWith('_') ? make('sub', {}, part.slice(1)) : part);
}

// The numbers of a trace as the page holds them.

function decode({first, rows, columns, float32}) {
  const bytes = Uint8Array.from(atob(float32), letter => letter.charCodeAt(0));
  return matrix(rows, columns, new Float32Array(bytes.buffer), first);
}

// Everything that the arithmetic needs, and what the program computed, by the names of the steps.
function headOf(data) {
  const steps = data.steps.map(step => ({...step, values: decode(step.values)}));
  const head = {steps, names: data.tokens.map((token, pos) => `${pos} ${token}`), ids: data.ids};
  for (const {name, values} of steps) head[name] = values;
  if (head.projection_bias) head.b_o = rowOf(head.projection_bias, 0);
  if (!data.learned) return head;
  const {epsilon, gain, bias, head: place, others, ...weights} = data.learned;
  Object.assign(head, {epsilon, place, layer_norm: data.layer_norm, gain: decode(gain).values, bias: decode(bias).values});
  for (const [name, numbers] of Object.entries(weights)) head[name] = name.startsWith('b_') ? decode(numbers).values : decode(numbers);
  head.others = others.map(decode);
  return head;
}

// Works out again whatever the page holds the ingredients of, and compares it with what the program wrote.
function recompute(head, data, settings) {
  const found = {same: 0, all: 0, first: null};
  const compare = (step, row, mine) => {
    if (!head[step] || !mine) return;
    rowOf(head[step], row).forEach((theirs, column) => {
      ++found.all;
      if (sameBits(mine[column], theirs)) ++found.same;
      else found.first = found.first || {step, row, column, mine: mine[column], theirs};
    });
  };
  for (let row = data.first; row < data.end; ++row) {
    if (head.token_embedding) compare('residual', row, sumOfRows([rowOf(head.token_embedding, row), rowOf(head.position_embedding, row)]));
    if (head.residual && head.gain && head.layer_norm) {
      const x = matrix(1, data.d_model, rowOf(head.residual, row), row);
      compare('normalized', row, normalize(x, head.gain, head.bias, head.epsilon, head.layer_norm === 'gpt2' ? '' : head.layer_norm).values);
    }
    for (const name of ['q', 'k', 'v'])
      if (head[`w_${name}`]) compare(name, row, rowTimes(rowOf(head.normalized, row), head[`w_${name}`], data.d_model, head[`b_${name}`]));
    const values = attend(head, row, settings);
    for (const step of Object.keys(values)) compare(step, row, values[step]);
    if (!head.others) continue;
    if (head.others.length > 0) compare('other_heads', row, sumOfRows(head.others.map(other => rowOf(other, row))));
    if (head.residual)
      compare('residual_after', row, sumOfRows([rowOf(head.residual, row), ...inHeadOrder(head, row, values.output_projection), head.b_o]));
  }
  return found;
}

// The page's address after the #: a state that can be linked, bookmarked and reloaded. Browsers complain about pages that
// write theirs some hundred times in half a minute, as a slider does, so after many it is written once a second.
function pageAddress() {
  const written = [];
  let next = null, timer = 0;
  function write() {
    timer = 0;
    written.push(performance.now());
    if (written.length > MOST_WRITTEN) written.shift();
    try {
      history.replaceState(null, '', location.href.split('#')[0] + (next ? `#${next}` : ''));
    } catch {
      // A page inside of another one has no address of its own.
    }
  }
  return {
    read: () => {
      try {
        return decodeURIComponent(location.hash.slice(1));
      } catch {
        return '';  // not an address of ours
      }
    },
    write: text => {
      next = text;
      const isOften = written.length === MOST_WRITTEN && performance.now() - written[0] < 30000;
      if (!isOften) write();
      else if (timer === 0) timer = setTimeout(write, 1000);
    },
    listen: (changed, signal) => addEventListener('hashchange', changed, {signal}),
  };
}

const MOST_WRITTEN = 60;  // addresses in half a minute

// A page with its state. Panels read `state` and `values`, and change the state with `set`.
class Page {
  constructor(root, data, address) {
    Object.assign(this, {root, data, address, head: headOf(data), panels: [], places: [], guesses: {}, undo: [], stop: new AbortController()});
    const run = {divisor: data.divisor || Math.sqrt(data.d_head), mask: Object.hasOwn(OVER, data.mask) ? data.mask : '-inf'};
    this.start = {row: data.row, ...run, shift: 0, cell: null, step: this.about(), order: 'index', without: '', predict: false};
    this.marks = [1, Math.sqrt(data.d_head), Math.sqrt(data.d_model)];
    this.state = {...this.start, ...this.readAddress()};
    this.known = new Map();
  }

  get n() { return this.data.tokens.length; }
  get row() { return this.state.row; }
  get isChanged() { return this.state.divisor !== this.start.divisor || this.state.mask !== this.start.mask; }
  get isAsking() { return this.state.predict && this.row > 0 && this.guesses[this.row] === undefined; }

  // What a row computes with the divisor and the mask that are set now, or as the run did.
  values(row = this.row, settings = this.state) {
    const key = `${row},${settings.divisor},${settings.mask}`;
    if (!this.known.has(key)) {
      if (this.known.size > 500) this.known.clear();
      this.known.set(key, attend(this.head, row, {divisor: settings.divisor, mask: settings.mask}));
    }
    return this.known.get(key);
  }

  asRun(row = this.row) { return this.values(row, this.start); }

  // The keys that a list has room for: all of a short text, else those that the row reads most, as in the story.
  shownKeys(most = 16) {
    const keys = Array.from(this.data.tokens, (_, key) => key);
    if (keys.length <= most) return keys;
    const weights = this.asRun().softmax;
    return keys.sort((a, b) => weights[b] - weights[a] || a - b).slice(0, most).sort((a, b) => a - b);
  }

  token(pos) {
    return make('span', {class: pos === this.row ? 'token accent' : 'token'}, `${pos} `, make('bdi', {class: 'label', dir: 'ltr'}, this.data.tokens[pos]));
  }

  // The experiment of the program that computes what is set now; '' for the run itself, null where there is none.
  get experiment() {
    const {divisor, mask} = this.state;
    if (!this.isChanged) return this.data.experiment;
    if (this.data.experiment !== '') return null;
    const masks = {'none': 'unmasked', 'after': 'masked-after-softmax', '0': 'masked-by-zero', '-10000': 'masked-by-10000'};
    if (divisor === this.start.divisor) return masks[mask];
    if (mask !== this.start.mask) return null;
    return divisor === 1 ? 'unscaled' : divisor === this.marks[2] ? 'divide-by-sqrt-d-model' : null;
  }

  set(change, says = '') {
    Object.assign(this.state, change);
    this.address.write(this.writeAddress());
    this.update();
    this.say(says);
  }

  // To those who hear the page.
  say(words) {
    if (words && this.live) this.live.textContent = words;
  }

  // What the script makes of an element that the page has without it: listeners and attributes, until it is unmounted.
  lend(element, {listeners = {}, ...attributes}) {
    for (const [type, listener] of Object.entries(listeners)) element.addEventListener(type, listener, {signal: this.stop.signal});
    for (const [name, value] of Object.entries(attributes)) {
      const before = element.getAttribute(name);
      const write = text => { if (text === null) element.removeAttribute(name); else element.setAttribute(name, text); };
      this.undo.push(() => write(before));
      write(value);
    }
  }

  // The page as the program wrote it.
  unmount() {
    this.stop.abort();
    Object.assign(this.state, this.start);
    this.update();
    for (const undo of this.undo.reverse()) undo();
    this.panels = this.undo = [];
  }

  // What panels measure is measured first: to ask for a width after a change lays the whole page out once more.
  update() {
    for (const place of this.places) place.width = place.clientWidth;
    for (const update of this.panels) update();
  }

  // "row=2&divisor=1": what differs from the start.
  writeAddress() {
    return Object.entries(this.state).filter(([name, value]) => value !== this.start[name])
        .map(([name, value]) => `${name}=${value === true ? 1 : value}`).join('&');
  }

  // What of it is a state of this page; the rest is passed over.
  readAddress() {
    const state = {}, {data} = this;
    const isIn = (value, first, end) => Number.isInteger(value) && first <= value && value < end;
    const numbersOf = text => text.split(',').map(number => /^\d+$/.test(number) ? Number(number) : NaN);
    for (const [name, value] of this.address.read().split('&').map(part => part.split('='))) {
      const number = value === undefined || value === '' ? NaN : Number(value);
      if (name === 'row' && isIn(number, data.first, data.end)) state.row = number;
      if (name === 'divisor' && number >= 1 && number <= this.marks[2]) state.divisor = number;
      if (name === 'mask' && Object.hasOwn(OVER, value)) state.mask = value;
      if (name === 'shift' && Math.abs(number) <= MOST_SHIFT) state.shift = number;
      if (name === 'order' && value === 'size') state.order = value;
      if (name === 'predict') state.predict = value === '1';
      if (name === 'step' && Object.hasOwn(WORKS, value) && this.head[value]) state.step = value;
      if (name === 'without' && value && numbersOf(value).every(key => isIn(key, 0, this.n))) state.without = [...new Set(numbersOf(value))].join(',');
      if (name === 'cell' && value) {
        const step = value.split(',')[0], [row, column] = numbersOf(value.slice(step.length + 1)), m = this.head[step];
        if (Object.hasOwn(WORKS, step) && m && isIn(row, m.first, m.first + m.rows) && isIn(column, 0, m.columns)) state.cell = `${step},${row},${column}`;
      }
    }
    return state;
  }

  // The step that the page is about: that of a lesson, else the scores.
  about() {
    const place = this.root.querySelector('[data-about]'), step = place && place.dataset.about;
    return step && Object.hasOwn(WORKS, step) && this.head[step] ? step : 'scores';
  }

  // The cell under the microscope: by default the row's favourite, or the first number of a vector.
  get cell() {
    if (this.state.cell) {
      const [step, row, column] = this.state.cell.split(',');
      return {step, row: Number(row), column: Number(column)};
    }
    const weights = this.asRun().softmax;
    const {step} = this.start, {pairs} = this.head.steps.find(({name}) => name === step);
    return {step, row: this.row, column: pairs ? weights.indexOf(Math.max(...weights)) : 0};
  }

  look(step, row, column) {
    const m = this.head[step];
    if (!m || !(step in WORKS)) return;
    row = m.rows === 1 ? 0 : row;
    if (row < m.first || row >= m.first + m.rows || column < 0 || column >= m.columns) return;
    this.set({cell: `${step},${row},${column}`}, `${step}, row ${row}, column ${column} is worked out in the panel One number, worked out.`);
  }

  follow(row) {
    row = Math.max(this.data.first, Math.min(this.data.end - 1, row));
    if (row !== this.row) this.set({row, cell: null, without: ''}, this.summary(row));
  }

  summary(row) {
    if (this.state.predict && row > 0 && this.guesses[row] === undefined) return `Row ${this.head.names[row]} asks. Who gets most of its attention?`;
    const weights = this.values(row).softmax, best = Math.max(...weights);
    return `Row ${this.head.names[row]} asks. It gives most weight to ${weights.indexOf(best) === row ? 'itself' : this.head.names[weights.indexOf(best)]}: ${weightText(best)}.`;
  }
}

const MOST_SHIFT = 20;

// A panel's frame: its title names it to those who do not see it.
function panel(place, name, title, ...children) {
  place.replaceChildren(make('section', {class: `panel ${name}`, 'aria-label': title}, make('h3', {}, title), ...children));
}

function button(text, onclick, attributes = {}) {
  return make('button', {type: 'button', onclick, ...attributes}, text);
}

// A bar of a share of `most`, with a mark where it was in the run.
function bar(share, was = null, classes = '') {
  const filled = make('i'), frame = make('span', {class: `bar ${classes}`, 'aria-hidden': 'true'}, filled);
  filled.style.width = `${Math.min(1, Math.max(0, share)) * 100}%`;
  if (was === null) return frame;
  const mark = make('b');
  mark.style.left = `${Math.min(1, Math.max(0, was)) * 100}%`;
  frame.append(mark);
  return frame;
}

// A line for each key; columns: {heading, cell(key), classes}.
function keyTable(page, keys, columns, caption) {
  const head = make('tr', {}, columns.map(({heading}) => make('th', {scope: 'col'}, heading)));
  const lines = keys.map(key => make('tr', {class: key > page.row ? 'later' : ''}, columns.map(({cell}, place) =>
      place === 0 ? make('th', {scope: 'row'}, cell(key)) : make('td', {}, cell(key)))));
  const table = make('table', {class: 'keys'}, make('caption', {}, caption), make('thead', {}, head), make('tbody', {}, lines));
  const masked = page.values().masked_scores, left = Array.from(masked, (_, key) => key).filter(key => !keys.includes(key));
  const weights = page.values().softmax, later = left.filter(key => masked[key] === -Infinity).length;
  const none = left.filter(key => masked[key] !== -Infinity && weights[key] === 0).length, less = left.length - later - none, notes = [];
  if (less > 0) notes.push(`${counted(less, 'more key')}, which the row reads less`);
  if (none > 0) notes.push(`${counted(none, 'key')} without any weight`);
  if (later > 0) notes.push(`${counted(later, 'later key')}, masked`);
  return make('div', {class: 'scrolls'}, table, notes.length > 0 ? make('p', {class: 'quiet'}, `Not listed: ${notes.join('; ')}.`) : null);
}

// A number that one can look into.
function looker(page, step, row, column, text) {
  return button(text, () => page.look(step, row, column), {class: 'number', title: `${step}, row ${row}, column ${column}: work it out`});
}

// A row of numbers as a strip of shades; neighbours of one shade are one stroke. A click looks into a number.
function strip(page, step, row, values, shadeOf, width, height = 14) {
  const paths = {}, one = width / values.length;
  for (let first = 0, end = 0; first < values.length; first = end) {
    const shade = shadeOf(values[first], first);
    while (end < values.length && shadeOf(values[end], end) === shade) ++end;
    paths[shade] = `${paths[shade] || ''}M${(first * one).toFixed(2)} 0h${((end - first) * one).toFixed(2)}v${height}H${(first * one).toFixed(2)}z`;
  }
  const onclick = event => page.look(step, row, Math.floor((event.clientX - event.currentTarget.getBoundingClientRect().left) / one));
  const says = `${counted(values.length, 'number')} from ${exactText(Math.min(...values))} to ${exactText(Math.max(...values))}`;
  return draw('svg', {class: 'strip', width, height, role: 'img', 'aria-label': says, ...(step ? {onclick} : {})},
              Object.entries(paths).map(([shade, d]) => draw('path', {class: shade, d})));
}

// ---------------------------------------------------------------------------------------------------------------
// The controls: which row, predict first, what was changed, and whether the page's own arithmetic agrees.

function controlsPanel(page, place) {
  const {data} = page;
  const row = make('span', {class: 'which'});
  const back = button('◀ earlier row', () => page.follow(page.row - 1)), next = button('later row ▶', () => page.follow(page.row + 1));
  const predict = make('input', {type: 'checkbox', role: 'switch', onchange: event => {
    page.set({predict: event.target.checked}, event.target.checked ? 'Predict first is on.' : 'Predict first is off.');
  }});
  const question = make('fieldset', {class: 'question', hidden: true});
  const verdict = make('p', {class: 'verdict'});
  const output = make('output', {id: 'recomputed'}, 'recomputing ...');
  page.live = make('p', {class: 'unseen', role: 'status', 'aria-live': 'polite'});
  panel(place, 'controls', 'Play with this page',
        make('p', {}, 'Click a word, a row\'s label or a number anywhere on this page. The arrow keys left and right follow another row.',
             data.end - data.first < page.n ? ` This text is long: the rows ${data.first} to ${data.end - 1} of ${page.n} can be followed.` : ''),
        make('p', {class: 'quiet'}, 'With the keyboard alone: Tab leads to matrices and pictures, the arrow keys walk in them, Enter works a number out, f follows its row.'),
        make('div', {class: 'tools'}, back, row, next, make('label', {}, predict, ' Predict first')),
        question, verdict, make('p', {class: 'quiet'}, output, make('span', {}, '. "Here" is your browser: it has q, k, v and the learned weights, and computes in the order of the program.')), page.live);

  setTimeout(() => {
    const found = recompute(page.head, data, {divisor: page.start.divisor, mask: page.start.mask});
    const {first} = found;
    output.textContent = first === null ? `${found.same} of ${found.all} numbers recomputed here: the same bits`
        : `${found.same} of ${found.all} numbers recomputed here have the same bits. The first that differs: ${first.step}, row ${first.row}, column ${first.column}, ` +
          `${exactText(first.mine)} here and ${exactText(first.theirs)} in the page`;
    output.classList.toggle('differs', first !== null);
  });

  function guess(key) {
    page.guesses[page.row] = key;
    page.update();
    page.live.textContent = verdict.textContent;
    verdict.tabIndex = -1;
    verdict.focus();
  }

  function judge() {
    const mine = page.guesses[page.row];
    if (!page.state.predict || mine === undefined) return '';
    const weights = page.asRun().softmax, most = Math.max(...weights), best = weights.indexOf(most);
    const name = key => key === page.row ? 'itself' : page.head.names[key];
    const right = Object.entries(page.guesses).filter(([r, key]) => {
      const w = page.asRun(Number(r)).softmax;
      return w[key] === Math.max(...w);
    }).length;
    const count = Object.keys(page.guesses).length;
    return (weights[mine] === most ? `Right: row ${page.row} gives most to ${name(best)}, ${weightText(most)}.`
        : `You said ${name(mine)}, which gets ${weightText(weights[mine])}. Most goes to ${name(best)}: ${weightText(most)}.`) +
        ` ${right} of ${count} so far.`;
  }

  return () => {
    row.replaceChildren('row ', page.token(page.row), ' asks');
    back.disabled = page.row === data.first;
    next.disabled = page.row === data.end - 1;
    predict.checked = page.state.predict;
    question.hidden = !page.isAsking;
    if (page.isAsking)
      question.replaceChildren(make('legend', {}, 'Before you look: to which row does row ', page.token(page.row), ' give most of its attention?'),
          ...Array.from({length: page.row + 1}, (_, key) => button(page.token(key), () => guess(key), {class: 'guess'})).slice(-40));
    verdict.textContent = judge();
    page.root.classList.toggle('asking', page.isAsking);
  };
}

// What was changed, at the foot of the window while it is so.
function changesBar(page, place) {
  const says = make('span');
  const undo = () => page.set({divisor: page.start.divisor, mask: page.start.mask, shift: 0, without: '', ...(page.tellsRows ? {} : {row: page.start.row, cell: null})},
                              'Everything is as in the run again.');
  place.append(says, ' ', button('Undo', undo));
  return () => {
    const {divisor, mask, shift, without} = page.state, changes = [];
    if (divisor !== page.start.divisor) changes.push(`scores divided by ${divisorText(page, divisor)}`);
    if (mask !== page.start.mask) changes.push(mask === 'none' ? 'no mask' : mask === 'after' ? 'masked after the softmax' : `${mask} over the scores of later rows`);
    if (shift !== 0) changes.push(`${shift} added to every score`);
    if (without) changes.push(`the mix without ${without.split(',').map(key => page.head.names[key]).join(', ')}`);
    if (!page.tellsRows && page.row !== page.start.row) changes.push(`the panels follow row ${page.head.names[page.row]}, the text tells of row ${page.head.names[page.start.row]}`);
    place.hidden = changes.length === 0;
    says.textContent = `You changed: ${changes.join('; ')}. Panels and shades follow; text and pictures tell the run itself.`;
  };
}

function divisorText(page, divisor) {
  const [, root, wide] = page.marks;
  const number = String(Number(divisor.toFixed(2)));
  if (divisor === 1) return '1, unscaled';
  return divisor === root ? `${number} = √d_head` : divisor === wide ? `${number} = √d_model` : number;
}

// ---------------------------------------------------------------------------------------------------------------
// The text and the pictures that the page has without its script: they follow the row, and can be touched.

// The words of the text: a choice of one row, with the arrow keys as such choices have them.
function sentenceOf(page, sentence) {
  const words = Array.from(sentence.querySelectorAll('[data-first]'), element =>
      ({element, first: Number(element.dataset.first), end: Number(element.dataset.end)}));
  page.lend(sentence, {role: 'radiogroup', 'aria-label': 'The row that the page follows'});
  // A word of several tokens stands for its last row that can be followed.
  const rowOfWord = word => Math.min(word.end, page.data.end) - 1;
  const canFollow = word => page.data.first <= rowOfWord(word) && word.first < page.data.end;
  for (const word of words) {
    if (!canFollow(word)) continue;
    const click = () => page.follow(rowOfWord(word)), keydown = event => {
      const step = {ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1}[event.key];
      if (event.key === ' ' || event.key === 'Enter') page.follow(rowOfWord(word));
      else if (step) page.follow(page.row + step);
      else return;
      event.preventDefault();
      event.stopPropagation();
      const now = words.find(({first, end}) => first <= page.row && page.row < end);
      if (now) now.element.focus();
    };
    page.lend(word.element, {role: 'radio', tabindex: -1, 'aria-checked': false, 'aria-label': '', listeners: {click, keydown}});
  }
  return () => {
    const weights = page.values().softmax;
    for (const {element, first, end} of words) {
      const asks = first <= page.row && page.row < end, weight = sumOf(weights, first, end);
      const exact = Array.from({length: end - first}, (_, i) => `${page.head.names[first + i]}: ${exactText(weights[first + i])}`).join(', ');
      const isLater = first > page.row && weight === 0;
      change(element, 'class', (page.isAsking ? 'p0' : isLater ? 'later' : weightShade(weight)) + (asks ? ' asks' : ''));
      change(element, 'title', page.isAsking ? '' : exact);
      if (element.getAttribute('role') !== 'radio') continue;
      change(element, 'aria-checked', asks);
      change(element, 'tabindex', asks ? 0 : -1);
      change(element, 'aria-label', page.isAsking ? page.head.names[end - 1] : `${page.head.names[end - 1]}, weight ${isLater ? '0, it comes later' : weightText(weight)}`);
    }
  };
}

// The parts of the story, told for each row by the program.
function storyOf(page) {
  const parts = Array.from(page.root.querySelectorAll('[data-part]')), told = {[page.data.row]: parts.map(part => [...part.childNodes])};
  if (parts.length === 0) return null;
  for (const template of page.root.querySelectorAll('template[data-row]')) {
    const own = Array.from(template.content.children), {row} = template.dataset;
    const found = parts.map(part => own.find(other => other.dataset.part === part.dataset.part));
    told[row] = found.map(other => other ? [...other.childNodes] : []);
    page.undo.push(() => found.forEach((other, i) => { if (other) other.append(...told[row][i]); }));
  }
  const heading = page.root.querySelector('h1'), rest = heading && document.title.startsWith(heading.textContent) ? document.title.slice(heading.textContent.length) : null;
  let shown = page.data.row;
  return () => {
    const story = told[page.row];
    if (shown === page.row) return;
    shown = page.row;
    if (story) parts.forEach((part, i) => part.replaceChildren(...story[i]));
    if (rest !== null) document.title = page.root.querySelector('h1').textContent + rest;
  };
}

// Where an arrow key leads from a place in a grid; nothing for another key.
function afterKey(key, [i, j], columns) {
  return {ArrowUp: [i - 1, j], ArrowDown: [i + 1, j], ArrowLeft: [i, j - 1], ArrowRight: [i, j + 1], Home: [i, 0], End: [i, columns - 1]}[key];
}

// The table of the attention pattern: its rows can be followed, its cells looked into.
function patternOf(page, table) {
  const lines = Array.from(table.rows).slice(1);
  let at = [page.row, 0];
  const place = (i, j) => lines[i] && lines[i].cells[j + 1];
  function keydown(event) {
    const [i, j] = at, to = afterKey(event.key, at, page.n);
    if (event.key === 'Enter' || event.key === ' ') page.look('softmax', i, j);
    else if (event.key === 'f') page.follow(i);
    else if (!to || to[1] < 0 || !place(...to)) return;
    else {
      place(...at).tabIndex = -1;
      at = to;
      place(...at).tabIndex = 0;
      place(...at).focus();
    }
    event.preventDefault();
    event.stopPropagation();
  }
  page.lend(table, {role: 'grid', 'aria-description': 'The arrow keys walk from weight to weight, Enter works one out, f follows its row.', listeners: {keydown}});
  lines.forEach((line, i) => {
    const head = line.cells[0], follow = button('', () => page.follow(i), {class: 'follow', 'aria-label': `Follow row ${page.head.names[i]}`, tabindex: -1});
    follow.append(...head.childNodes);
    head.append(follow);
    page.undo.push(() => head.replaceChildren(...follow.childNodes));
    Array.from(line.cells).slice(1).forEach((cell, j) => {
      page.lend(cell, {role: 'gridcell', tabindex: -1, 'aria-label': '', listeners: {click: () => { at = [i, j]; page.look('softmax', i, j); }, focus: () => { at = [i, j]; }}});
    });
  });
  return () => {
    if (!table.contains(document.activeElement)) at = [page.row, at[1]];  // who comes to it by key is at the followed row
    lines.forEach((line, i) => {
      line.className = i === page.row ? 'asks' : '';
      const weights = page.values(i).softmax;
      Array.from(line.cells).slice(1).forEach((cell, j) => {
        const label = weightText(weights[j]);
        if (cell.textContent !== label) cell.textContent = label;
        change(cell, 'class', j > i && weights[j] === 0 ? 'm' : weightShade(weights[j]));
        change(cell, 'title', exactText(weights[j]));
        change(cell, 'aria-label', `${page.head.names[i]} reads ${page.head.names[j]}: ${label}`);
        cell.tabIndex = at[0] === i && at[1] === j ? 0 : -1;
      });
    });
  };
}

// A picture of a step: a click on a label follows that row, one on a cell looks into it; its frame moves along.
// With the keys one walks from cell to cell, and hears what is there.
function pictureOf(page, svg, step) {
  const labels = Array.from(svg.querySelectorAll('text.row, text.asks')), cells = svg.querySelector('g[shape-rendering]');
  const rows = labels.map(label => parseInt(label.textContent, 10)), frame = svg.querySelector('rect.frame');
  const matrixOf = page.head[step], isOne = matrixOf.rows === 1, isSquare = page.head.steps.find(({name}) => name === step).pairs;
  if (!cells) return null;
  const columns = isSquare ? labels.length : matrixOf.columns, columnOf = j => isSquare ? rows[0] + j : j;
  // The cursor is for the keys: who points at a cell sees it, and a page that moved then would be in the way.
  const cursor = draw('rect', {class: 'cursor', width: 0, height: 1});
  let at = null;
  const start = () => at || [Math.max(0, rows.indexOf(page.row)), 0];
  function go(i, j) {
    at = [i, j];
    change(cursor, 'width', 1);
    change(cursor, 'x', j);
    change(cursor, 'y', i);
    cursor.scrollIntoView({block: 'nearest', inline: 'nearest'});
    const row = isOne ? 0 : rows[i], {first} = matrixOf, isHere = first <= row && row < first + matrixOf.rows && columnOf(j) < matrixOf.columns;
    const value = isHere ? rowOf(matrixOf, row)[columnOf(j)] : null;
    page.say(`${isSquare ? `${page.head.names[row]} reads ${page.head.names[columnOf(j)]}` : `${isOne ? 'every row' : page.head.names[row]}, d${j}`}` +
             `${value === null ? ', not in this page' : `: ${exactText(value)}`}`);
  }
  const focus = () => { if (svg.matches(':focus-visible')) go(...start()); };
  const click = event => {
    const label = labels.indexOf(event.target);
    if (label >= 0) return isOne ? undefined : page.follow(rows[label]);
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(cells.getScreenCTM().inverse());
    const i = Math.floor(point.y), j = Math.floor(point.x);
    if (i < 0 || i >= labels.length || j < 0 || j >= columns) return undefined;
    at = [i, j];
    change(cursor, 'width', 0);
    return page.look(step, isOne ? 0 : rows[i], columnOf(j));
  };
  const keydown = event => {
    const [i, j] = start(), to = afterKey(event.key, [i, j], columns);
    if (event.key === 'Enter' || event.key === ' ') page.look(step, isOne ? 0 : rows[i], columnOf(j));
    else if (event.key === 'f' && !isOne) page.follow(rows[i]);
    else if (!to) return;
    else if (to[0] >= 0 && to[0] < labels.length && to[1] >= 0 && to[1] < columns) go(...to);
    event.preventDefault();
    event.stopPropagation();
  };
  cells.append(cursor);
  page.undo.push(() => cursor.remove());
  const figure = svg.closest('figure');
  page.lend(figure, {tabindex: null});  // the picture itself takes its place
  page.lend(svg, {class: 'live', tabindex: 0, role: 'application', listeners: {click, focus, keydown},
                  'aria-label': `${svg.getAttribute('aria-label')}. The arrow keys walk from number to number, Enter works one out${isOne ? '' : ', f follows its row'}.`});
  if (!frame || isOne) return () => {};
  page.lend(frame, {y: frame.getAttribute('y'), visibility: 'visible'});
  const height = Number(frame.getAttribute('height')), top = Number(frame.getAttribute('y')) - height * rows.indexOf(page.data.row);
  let shown = -1;
  return () => {
    const i = rows.indexOf(page.row);
    if (shown === page.row) return;
    shown = page.row;
    frame.setAttribute('visibility', i < 0 ? 'hidden' : 'visible');
    frame.setAttribute('y', top + height * i);
    for (const label of svg.querySelectorAll('text.asks')) label.setAttribute('class', 'row');
    if (i >= 0) labels[i].setAttribute('class', 'asks');
  };
}

function tokenTableOf(page, table) {
  return () => {
    for (const line of Array.from(table.rows).slice(1)) line.className = Number(line.cells[0].textContent) === page.row ? 'asks' : '';
  };
}

// ---------------------------------------------------------------------------------------------------------------
// The flow: the way of the row through the head, as the page's spine.

function flowOf(page, place) {
  const {data, head} = page, n = page.n;
  const steps = head.steps.filter(step => step.name in WORKS && !['other_heads', 'projection_bias'].includes(step.name));
  const short = {token_embedding: 'token', position_embedding: '+ position', residual: 'the row arrives', normalized: 'normalized', q: '→ query', k: '→ key',
                 v: '→ value', scores: 'q · every k', scaled_scores: '÷ divisor', masked_scores: 'mask', softmax: 'softmax', blend: 'Σ weight · v',
                 output_projection: 'widen by W_o', residual_after: 'add to the row'};
  const buttons = steps.map(step => button('', () => go(step.name), {'data-step': step.name}));
  const back = button('◀ back', () => go(steps[at() - 1].name), {'aria-label': 'step back', class: 'back'}), next = button('next ▶', () => go(steps[at() + 1].name), {'aria-label': 'next step', class: 'forth'});
  const about = make('div', {class: 'about'});
  place.replaceChildren(make('h2', {}, 'The way through the head'),
                        make('p', {class: 'quiet legend'}, 'Each strip is the followed row at that step; beside it, how many numbers.'), make('ol', {}, buttons.map(b => make('li', {}, b))),
                        make('div', {class: 'tools'}, back, next), about);
  const at = () => Math.max(0, steps.findIndex(step => step.name === page.state.step));

  function go(name) {
    page.set({step: name}, `Step ${name}: ${steps.find(step => step.name === name).meaning}.`);
    const section = page.root.querySelector(`section[id="${String(steps[at()].number).padStart(2, '0')}_${name}"]`);
    if (section) section.scrollIntoView({block: 'start'});
  }

  // This row's numbers of a step, as they are with what is set now.
  function valuesOf(step) {
    return page.values()[step.name] || rowOf(step.values, step.values.rows === 1 ? 0 : page.row);
  }
  const limits = Object.fromEntries(steps.map(step => [step.name, limitOf(step.pairs ? head.scores.values : step.values.values)]));

  let lit = -1;
  return () => {
    const width = 190, full = Math.max(data.d_model, n);
    steps.forEach((step, i) => {
      const values = valuesOf(step), isLit = i === at();
      const shadeOf = step.name === 'softmax' ? (w, key) => key > page.row && w === 0 ? 'm' : weightShade(w)
          : (value => value === -Infinity ? 'm' : signedShade(value, limits[step.name]));
      const every = ['k', 'v'].includes(step.name) ? `${n} × ` : '';
      buttons[i].replaceChildren(make('span', {class: 'name'}, short[step.name]), make('span', {class: 'shape'}, `${every}${values.length}`),
          page.isAsking && step.number >= 8 ? '' : strip(page, null, 0, values, shadeOf, Math.max(24, Math.round(width * Math.min(1, values.length / full))), 9));
      buttons[i].setAttribute('aria-label', `${step.number} ${step.name}: ${every}${counted(values.length, 'number')}`);
      if (isLit) buttons[i].setAttribute('aria-current', 'step');
      else buttons[i].removeAttribute('aria-current');
    });
    const list = buttons[0].closest('ol');
    if (lit !== at()) list.scrollLeft = buttons[at()].parentElement.offsetLeft - list.offsetLeft - 8;
    lit = at();
    back.disabled = at() === 0;
    next.disabled = at() === steps.length - 1;
    const step = steps[at()], values = valuesOf(step), hides = page.isAsking && step.number >= 8;  // from the scores on one sees the answer
    about.replaceChildren(
        make('p', {}, make('strong', {}, `${String(step.number).padStart(2, '0')} ${step.name}`), `: ${step.meaning}.`),
        make('p', {class: 'formula'}, ...(step.symbols ? formulaOf(step.symbols) : [step.formula])),
        step.code ? make('pre', {}, make('code', {}, step.code.replace(/(\S) +/g, '$1 '))) : '',
        hides ? '' : make('p', {class: 'quiet'}, `Row ${head.names[page.row]}: ${counted(values.length, 'number')}`),
        hides ? '' : make('p', {class: 'numbers'}, Array.from(values.slice(0, 8), (value, column) =>
            looker(page, step.name, page.row, column, cellText(step, value))), values.length > 8 ? ` ... ${values.length - 8} more` : ''));
  };
}

// ---------------------------------------------------------------------------------------------------------------
// One number, worked out. A score is shown as a picture of its products too.

function workedPanel(page, place) {
  const {head} = page, steps = head.steps.filter(({name}) => name in WORKS);
  // A number that is out of range goes to the nearest one that is there.
  const choose = () => {
    const m = head[step.value], within = (input, first, end) => Math.max(first, Math.min(end - 1, Math.round(Number(input.value)) || 0));
    page.look(step.value, within(row, m.first, m.first + m.rows), within(column, 0, m.columns));
  };
  const step = make('select', {onchange: choose}, steps.map(({number, name}) => make('option', {value: name}, `${String(number).padStart(2, '0')} ${name}`)));
  const row = make('input', {type: 'number', min: 0, onchange: choose}), column = make('input', {type: 'number', min: 0, onchange: choose});
  const result = make('div', {'aria-live': 'off'});
  let isLong = false;
  panel(place, 'worked', 'One number, worked out',
        make('p', {}, 'Click any number, cell or strip on this page, or choose one here. It is worked out term by term, as the program does.'),
        make('div', {class: 'tools'}, make('label', {}, 'step ', step), make('label', {}, 'row ', row), make('label', {}, 'column ', column)), result);

  function lineTable(lines) {
    const shown = isLong || lines.length <= 16 ? lines : [...lines.slice(0, 6), null, ...lines.slice(-6)];
    const number = value => make('td', {}, value === undefined ? '' : Number.isFinite(value) ? String(Number(value.toPrecision(9))) : scoreText(value));
    const cells = shown.map(line => line === null
        ? make('tr', {}, make('td', {colspan: 5, class: 'between'}, button(`show the ${lines.length - 12} lines between`, () => { isLong = true; page.update(); })))
        : make('tr', {}, make('th', {scope: 'row'}, line.what), number(line.left), number(line.right), number(line.value), number(line.running)));
    return make('div', {class: isLong ? 'scrolls high' : 'scrolls', tabindex: 0, role: 'region', 'aria-label': 'All terms'}, make('table', {class: 'terms'},
        make('thead', {}, make('tr', {}, ['term', 'first', 'second', 'value', 'sum so far'].map(text => make('th', {scope: 'col'}, text)))), make('tbody', {}, cells)));
  }

  // The command that prints the same lines.
  function command(cell) {
    const experiment = page.experiment;
    if (experiment === null) return make('p', {class: 'quiet'}, 'No single experiment of the program does all that you changed.');
    const options = experiment === page.data.experiment ? page.data.options : `${page.data.options} --experiment ${experiment}`;
    const words = `onehead worked ${cell.step} ${cell.row} ${cell.column}${options}`.split(/( )/);
    const line = make('code', {}, words.map(word => word.startsWith('--') ? make('span', {class: 'token'}, word) : word));
    return make('div', {class: 'command'}, make('p', {class: 'quiet'}, 'The same in a terminal:'), make('pre', {}, line), button('Copy', event => copy(line, event.target)));
  }

  function products(cell, width) {
    const q = rowOf(head.q, cell.row), k = rowOf(head.k, cell.column), d_head = q.length;
    const order = Array.from(q, (_, d) => d), size = d => Math.abs(q[d] * k[d]);
    if (page.state.order === 'size') order.sort((a, b) => size(b) - size(a) || a - b);
    const sums = [0];
    for (const d of order) sums.push(sums[sums.length - 1] + q[d] * k[d]);
    const left = 4, one = (width - left - 62) / d_head, x = i => left + i * one;
    const band = (top, height, limit) => value => top + height / 2 - value / limit * height / 2;
    const paired = band(18, 70, Math.max(...q.map(Math.abs), ...k.map(Math.abs)) || 1), times = band(112, 56, Math.max(...order.map(size)) || 1);
    const most = Math.max(...sums, 0), least = Math.min(...sums, 0), sumAt = value => 192 + (most - value) / ((most - least) || 1) * 84;
    const rect = (i, from, wide, y, value, classes) => draw('rect', {class: classes, x: (x(i) + from * one).toFixed(2), width: (wide * one).toFixed(2),
        y: Math.min(y(0), y(value)).toFixed(2), height: Math.max(0.5, Math.abs(y(0) - y(value))).toFixed(2)});
    const bars = order.map((d, i) => draw('g', {},
        draw('title', {}, `${d}: ${exactText(q[d])} · ${exactText(k[d])} = ${scoreText(q[d] * k[d])}, sum so far ${scoreText(sums[i + 1])}`),
        draw('rect', {class: 'ground', x: x(i), y: 0, width: one, height: 280}),
        rect(i, 0.08, 0.4, paired, q[d], 'q'), rect(i, 0.52, 0.4, paired, k[d], 'k'),
        rect(i, 0.12, 0.76, times, q[d] * k[d], q[d] * k[d] < 0 ? 'less' : 'more')));
    let path = `M${x(0)} ${sumAt(0)}`;
    sums.slice(1).forEach((sum, i) => path += `H${x(i + 0.5).toFixed(2)}V${sumAt(sum).toFixed(2)}`);
    const end = sums[d_head];
    return drawing(width, 284, `${d_head} products of query and key, whose running sum ends at ${scoreText(end)}`, bars,
        draw('text', {x: left, y: 11}, `query and key, ${page.state.order === 'size' ? 'largest product first' : `d0 to d${d_head - 1}`}`), draw('text', {x: left, y: 106}, 'their products'), draw('text', {x: left, y: 181}, 'the sum so far'),
        [paired(0), times(0), sumAt(0)].map(y => draw('path', {class: 'axis', d: `M${left} ${y}H${x(d_head)}`})),
        draw('path', {class: 'sum', d: `${path}H${x(d_head)}`}), draw('circle', {class: 'landing', cx: x(d_head), cy: sumAt(end), r: 4}),
        draw('text', {class: 'landing', x: x(d_head) + 8, y: sumAt(end) + 4}, scoreText(end)));
  }

  function microscope(cell) {
    const values = page.values(cell.row), score = values.scores[cell.column], other = page.values(cell.column);
    const order = ['index', 'size'].map(name => make('label', {},
        make('input', {type: 'radio', name: 'order', value: name, checked: page.state.order === name, onchange: () => page.set({order: name}, `Products by ${name}.`)}),
        name === 'index' ? ' in order' : ' by size'));
    const {divisor} = page.state, back = other.scores[cell.row], most = Math.max(Math.abs(score), Math.abs(back)) || 1;
    const beside = (from, to, value) => make('tr', {}, make('th', {scope: 'row'}, page.token(from), ' asks ', page.token(to)),
        make('td', {}, looker(page, 'scores', from, to, scoreText(value))), make('td', {}, bar(Math.abs(value) / most, null, value < 0 ? 'less' : 'more')));
    return [
      make('p', {class: 'keying'}, make('span', {class: 'swatch q'}), ' query of ', page.token(cell.row), make('span', {class: 'swatch k'}), ' key of ', page.token(cell.column)),
      make('fieldset', {class: 'tools plain'}, make('legend', {}, 'The products'), order),
      products(cell, widthOf(place)),
      page.state.order === 'size' ? make('p', {class: 'quiet'}, 'The largest come first here. The program adds them in order; the sum is the same but for rounding.') : '',
      make('p', {}, `The ${page.data.d_head} products add up to ${exactText(score)}, the score. Divided by ${divisor === 1 ? '1' : divisorText(page, divisor)} it is `,
           looker(page, 'scaled_scores', cell.row, cell.column, exactText(values.scaled_scores[cell.column])),
           cell.column > cell.row && page.state.mask === '-inf' ? '; this key comes later, so the mask writes -inf over it, and its weight is ' : '; its weight is ',
           looker(page, 'softmax', cell.row, cell.column, weightText(values.softmax[cell.column])), '.'),
      cell.row === cell.column ? '' : make('table', {class: 'keys'}, make('caption', {}, 'The other direction: another query, another key'),
          make('tbody', {}, beside(cell.row, cell.column, score), beside(cell.column, cell.row, back))),
    ];
  }

  let shown = '';
  return () => {
    const cell = page.cell, m = head[cell.step], about = head.steps.find(({name}) => name === cell.step);
    if (shown !== `${cell.step},${cell.row},${cell.column}`) isLong = false;
    shown = `${cell.step},${cell.row},${cell.column}`;
    step.value = cell.step;
    [row.value, row.min, row.max] = [cell.row, m.first, m.first + m.rows - 1];
    [column.value, column.max] = [cell.column, m.columns - 1];
    const isOwn = m.rows > 1 && cell.row < page.n, values = isOwn ? page.values(cell.row) : {};
    const worked = workOut(head, values, page.state, cell.step, cell.row, cell.column);
    const inTrace = cell.row >= m.first ? rowOf(m, cell.row)[cell.column] : NaN;
    const title = make('p', {class: 'result'}, `${cell.step}[${cell.row}, ${cell.column}]`, ' = ', make('strong', {}, worked ? exactText(worked.result) : exactText(inTrace)));
    const agrees = !worked ? 'This page does not hold what this number is made of; the program does.'
        : sameBits(worked.result, inTrace) ? 'The program wrote the same bits.'
        : page.isChanged ? `With what you changed. In the run itself it is ${exactText(inTrace)}.`
        : `It differs from what the program wrote: ${exactText(inTrace)}.`;
    result.replaceChildren(title, make('p', {class: 'quiet'}, `${about.meaning[0].toUpperCase()}${about.meaning.slice(1)}: `, ...(about.symbols ? formulaOf(about.symbols) : [about.formula])),
        ...(cell.step === 'scores' ? microscope(cell) : []), worked ? lineTable(worked.lines) : '', make('p', {class: 'agrees'}, agrees), command(cell));
  };
}

function copy(element, pressed) {
  const select = () => {
    getSelection().selectAllChildren(element);
    document.execCommand('copy');
  };
  const write = navigator.clipboard ? navigator.clipboard.writeText(element.textContent) : Promise.reject(new Error('no clipboard'));
  write.catch(select).then(() => { pressed.textContent = 'Copied'; });
}

// How wide a picture may be in this place.
function widthOf(place) {
  return Math.max(280, Math.min(860, place.width - 34));
}

// ---------------------------------------------------------------------------------------------------------------
// Only gaps count: a number added to all scores changes no weight.

function gapsPanel(page, place) {
  const move = value => {
    const shift = Math.max(-MOST_SHIFT, Math.min(MOST_SHIFT, Math.round(value * 4) / 4));
    if (shift !== page.state.shift) page.set({shift}, `${shift} is added to every score. ${verdict.textContent}`);
  };
  const slider = make('input', {type: 'range', min: -MOST_SHIFT, max: MOST_SHIFT, step: 0.25, oninput: event => move(Number(event.target.value)), 'aria-label': 'Add to every score'});
  const number = make('output'), line = make('div', {class: 'line'}), list = make('div'), verdict = make('p', {class: 'verdict'});
  panel(place, 'gaps', 'Only gaps count',
        make('p', {}, 'Each key is where its score puts it. Drag the origin, or add a number to every score: softmax subtracts the largest score, so only the gaps to it are left.'),
        line, make('div', {class: 'tools'}, make('label', {}, 'add to every score ', slider), number, button('back to 0', () => move(0))), verdict, list);
  let scale = 1;
  line.addEventListener('pointerdown', event => {
    const from = event.clientX, before = page.state.shift, stop = new AbortController();
    event.preventDefault();
    addEventListener('pointermove', moved => move(before - (moved.clientX - from) / scale), {signal: stop.signal});
    for (const end of ['pointerup', 'pointercancel']) addEventListener(end, () => stop.abort(), {signal: stop.signal});
  });

  return () => {
    const {shift} = page.state, width = widthOf(place), all = page.values().masked_scores, weights = page.values().softmax;
    const shifted = weightsOf(all, page.row, page.state.mask, shift);
    const keys = page.shownKeys().filter(key => Number.isFinite(all[key]));
    slider.value = shift;
    number.textContent = `${shift > 0 ? '+' : ''}${shift}`;
    // The keys keep their places, and the ruler below them moves.
    const inView = keys.map(key => all[key]).filter(score => score > -9999), low = Math.min(0, ...inView) - 2, high = Math.max(0, ...inView) + 2;
    scale = (width - 20) / (high - low);
    const x = score => 10 + (score - low) * scale, ends = [];
    const marks = keys.filter(key => all[key] > -9999).sort((a, b) => all[a] - all[b]).map(key => {
      const label = page.head.names[key], at = x(all[key]), half = label.length * 3.8 + 5;
      const middle = Math.min(Math.max(at, half), width - half);
      let level = 0;
      while (ends[level] !== undefined && ends[level] > middle - half) ++level;
      ends[level] = middle + half;
      return {key, label, at, middle, level};
    });
    const base = 26 + ends.length * 17, ticks = [], step = [1, 2, 5, 10, 20, 50, 100, 500, 2000, 10000].find(size => (high - low) / size <= width / 50) || 1e6;
    for (let tick = Math.ceil((low + shift) / step) * step; tick <= high + shift; tick += step)
      ticks.push(draw('path', {class: 'axis', d: `M${x(tick - shift)} ${base}v6`}), draw('text', {x: x(tick - shift), y: base + 20, 'text-anchor': 'middle'}, String(tick)));
    const origin = Math.min(Math.max(x(-shift), 4), width - 4);
    line.replaceChildren(drawing(width, base + 44, `A number line: ${keys.map(key => `${page.head.names[key]} at ${scoreText(all[key] + shift)}`).join(', ')}`,
        draw('path', {class: 'axis', d: `M0 ${base}H${width}`}), ticks,
        marks.map(({at, middle, level}) => draw('path', {class: 'axis', d: `M${at} ${base}L${middle} ${base - 16 - level * 17}`})),
        marks.map(({key, label, at, middle, level}) => draw('g', {class: key === page.row ? 'accent' : ''},
            draw('circle', {cx: at, cy: base, r: 3 + 5 * Math.sqrt(weights[key])}), draw('text', {x: middle, y: base - 20 - level * 17, 'text-anchor': 'middle'}, label))),
        draw('g', {class: 'origin'}, draw('path', {d: `M${origin} ${base - 12}v24`}), draw('circle', {cx: origin, cy: base, r: 6}),
             draw('text', {x: origin, y: base + 38, 'text-anchor': origin < 30 ? 'start' : origin > width - 30 ? 'end' : 'middle'}, origin === x(-shift) ? 'origin' : 'origin, further on'))));
    const largest = Math.max(...all), same = shifted.filter((weight, key) => sameBits(weight, weights[key])).length;
    verdict.textContent = shift === 0 ? 'Nothing is added yet.'
        : same === page.n ? `All ${page.n} weights have the same bits as without it.` : `${same} of ${page.n} weights have the same bits as without it; the others differ by rounding.`;
    list.replaceChildren(keyTable(page, keys, [
      {heading: 'key', cell: key => page.token(key)},
      {heading: shift === 0 ? 'scaled score' : `scaled score ${shift < 0 ? '−' : '+'} ${Math.abs(shift)}`, cell: key => scoreText(all[key] + shift)},
      {heading: 'gap to the largest', cell: key => scoreText(all[key] - largest)},
      {heading: 'e to that power', cell: key => fixed(exponential(all[key] - largest), 3)},
      {heading: 'weight', cell: key => [bar(shifted[key]), looker(page, 'softmax', page.row, key, weightText(shifted[key]))]},
    ], [`Row `, page.token(page.row), ': from scores to weights']));
  };
}

// ---------------------------------------------------------------------------------------------------------------
// The divisor

function divisorPanel(page, place) {
  const [one, root, wide] = page.marks;
  const divide = value => {
    const mark = page.marks.find(at => Math.abs(at - value) < (wide - 1) / 250);
    page.set({divisor: mark || Math.max(1, Math.min(wide, value))}, `Divided by ${divisorText(page, mark || value)}. ${figures.textContent}`);
  };
  const slider = make('input', {type: 'range', min: 1, max: wide, step: 'any', list: 'divisors', 'aria-label': 'Divide every score by', oninput: event => divide(Number(event.target.value))});
  const ticks = make('datalist', {id: 'divisors'}, page.marks.map(value => make('option', {value})));
  const number = make('output');
  const marks = page.marks.map(mark => button(divisorText(page, mark), () => divide(mark), {class: 'mark'}));
  const flip = button('', () => divide(page.state.divisor === one ? root : one), {class: 'flip'});
  const list = make('div'), figures = make('p', {class: 'verdict'});
  panel(place, 'divisor', 'The divisor',
        make('p', {}, 'Softmax is exponential in the gaps. Dividing every score narrows the gaps between them; unscaled, often one row takes nearly everything.'),
        make('div', {class: 'tools'}, make('label', {class: 'wide'}, 'divide every score by ', slider), ticks, number),
        make('div', {class: 'tools'}, marks, flip), figures, list);
  return () => {
    const {divisor} = page.state, values = page.values(), {softmax: weights} = values, run = page.asRun().softmax;
    slider.value = divisor;
    slider.setAttribute('aria-valuetext', divisorText(page, divisor));
    number.textContent = divisorText(page, divisor);
    marks.forEach((mark, i) => mark.setAttribute('aria-pressed', divisor === page.marks[i]));
    flip.textContent = divisor === one ? 'Flip to scaled' : 'Flip to unscaled';
    const rows = effectiveRows(weights);
    figures.replaceChildren(`In effect row ${page.row} reads `, make('strong', {class: 'effective'}, fixed(rows, 2)), ` row${fixed(rows, 2) === '1.00' ? '' : 's'}. 1 − Σp² is `,
        make('strong', {class: 'slopes'}, weightText(slopes(weights))), ': what the slopes p(1 − p) of its weights add up to. Near 0 the softmax hardly passes anything on to learn from.');
    list.replaceChildren(keyTable(page, page.shownKeys().filter(key => key <= page.row || weights[key] > 0), [
      {heading: 'key', cell: key => page.token(key)},
      {heading: 'score', cell: key => looker(page, 'scores', page.row, key, scoreText(values.scores[key]))},
      {heading: 'scaled', cell: key => looker(page, 'scaled_scores', page.row, key, scoreText(values.scaled_scores[key]))},
      {heading: 'weight', cell: key => [bar(weights[key], page.isChanged ? run[key] : null), looker(page, 'softmax', page.row, key, weightText(weights[key]))]},
    ], ['Row ', page.token(page.row), page.isChanged ? ': the mark on a bar is the weight in the run' : '']));
  };
}

// ---------------------------------------------------------------------------------------------------------------
// The mask

const MASK_NAMES = new Map([['-inf', '-inf, as in GPT-2'], ['none', 'nothing: no mask'], ['0', '0'], ['-10000', '-10000'], ['after', 'nothing yet: masked after the softmax']]);

function maskPanel(page, place) {
  const radios = [...MASK_NAMES].map(([kind, name]) => ({kind, input: make('input', {type: 'radio', name: 'mask', value: kind, onchange: () => page.set({mask: kind}, verdictFor())}), name}));
  const list = make('div'), total = make('div', {class: 'total'}), verdict = make('p', {class: 'verdict'});
  panel(place, 'mask', 'The mask',
        make('p', {}, 'A row cannot read what comes later. What if the mask were another one?'),
        make('fieldset', {class: 'tools plain'}, make('legend', {}, 'Written over the scores of later rows:'), radios.map(({input, name}) => make('label', {}, input, ` ${name}`))),
        total, verdict, list);

  function verdictFor() {
    const weights = page.values().softmax, later = sumOf(weights, page.row + 1), own = sumOf(weights, 0, page.row + 1), count = page.n - 1 - page.row;
    const proper = page.values(page.row, {divisor: page.state.divisor, mask: '-inf'}).softmax, {mask: kind} = page.state;
    if (count === 0) return `No row comes after row ${page.row}, so every mask gives the same weights.${page.row > page.data.first ? ' Follow an earlier row.' : ''}`;
    const rows = count === 1 ? 'The later row' : `The ${count} later rows`;
    if (kind === '-inf') return `${rows} get${count === 1 ? 's' : ''} e to the power of -inf, exactly 0. What is left sums to ${fixed(own, 6)}.`;
    if (kind === 'none') return `${rows} take${count === 1 ? 's' : ''} ${weightText(later)} of the weight: the row reads what it is meant to predict.`;
    if (kind === '0') return `0 is a score like any other, and e to the power of 0 is 1. ${rows} still take${count === 1 ? 's' : ''} ${weightText(later)} of the weight.`;
    if (kind === '-10000') return later === 0 && proper.every((weight, key) => sameBits(weight, weights[key]))
        ? 'e to the power of about -10000 is 0 in these numbers too: every weight has the same bits as with -inf.' : `${rows} take${count === 1 ? 's' : ''} ${weightText(later)} of the weight.`;
    return `Softmax shared the weight among all rows, and the later rows' part was then erased: the row sums to ${fixed(own, 6)}${fixed(own, 6) === '1.000000' ? ', because they had next to none' : ' and not to 1'}.`;
  }

  return () => {
    const {softmax: weights, masked_scores: masked} = page.values();
    for (const {kind, input} of radios) input.checked = kind === page.state.mask;
    const own = sumOf(weights, 0, page.row + 1), later = sumOf(weights, page.row + 1), broken = own + later < 1 - 1e-5;
    const part = (share, classes, text) => {
      const element = make('span', {class: classes}, share > 0.12 ? text : '');
      element.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
      return element;
    };
    total.replaceChildren(make('div', {class: broken ? 'sum broken' : 'sum', role: 'img', 'aria-label': `The row sums to ${fixed(own + later, 6)}, of which later rows have ${weightText(later)}`},
        part(own, 'own', `itself and earlier rows ${weightText(own)}`), part(later, 'past', `later rows ${weightText(later)}`), part(1 - own - later, 'missing', `missing ${weightText(1 - own - later)}`)),
        make('p', {class: 'quiet'}, `The row sums to ${fixed(own + later, 6)}.`));
    verdict.textContent = verdictFor();
    list.replaceChildren(keyTable(page, page.shownKeys(), [
      {heading: 'key', cell: key => page.token(key)},
      {heading: 'masked score', cell: key => looker(page, 'masked_scores', page.row, key, scoreText(masked[key]))},
      {heading: 'weight', cell: key => [bar(weights[key], page.isChanged ? page.asRun().softmax[key] : null, key > page.row ? 'past' : ''), looker(page, 'softmax', page.row, key, weightText(weights[key]))]},
    ], ['Row ', page.token(page.row), '; what comes later is grey', page.isChanged ? '; the mark on a bar is the weight in the run' : '']));
  };
}

// ---------------------------------------------------------------------------------------------------------------
// The blend as a mixer

function mixerPanel(page, place) {
  let most = null;  // how many values are stacked; all of them if null
  const slider = make('input', {type: 'range', min: 0, step: 1, oninput: event => { most = Number(event.target.value); page.update(); }});
  const count = make('output'), list = make('div'), chart = make('div'), verdict = make('p', {class: 'verdict'});
  panel(place, 'mixer', 'The blend as a mixer',
        make('p', {}, 'Each value goes into the blend as loud as its weight. A light weight on a long value can be louder than a heavy weight on a short one: compare the two bars. Take a value out of the mix, or stack them up one by one.'),
        list, make('div', {class: 'tools'}, make('label', {class: 'wide'}, 'stack ', slider), count), chart, verdict);

  return () => {
    const {softmax: weights, blend} = page.values(), {v} = page.head, out = new Set(page.state.without.split(',').filter(Boolean).map(Number));
    const read = Array.from(weights, (_, key) => key).filter(key => weights[key] !== 0);
    const shown = page.shownKeys().filter(key => weights[key] !== 0);
    const norms = new Map(read.map(key => [key, normOf(rowOf(v, key))])), loudest = Math.max(...read.map(key => weights[key] * norms.get(key)), 1e-30);
    const limit = limitOf(shown.flatMap(key => Array.from(rowOf(v, key), value => value * weights[key])));
    const last = most === null || most >= shown.length ? shown.length : most, stacked = shown.slice(0, last).filter(key => !out.has(key));
    slider.max = shown.length;
    slider.value = last;
    count.textContent = `${last} of ${counted(shown.length, 'value')}`;
    const toggle = key => page.set({without: (out.has(key) ? [...out].filter(other => other !== key) : [...out, key]).sort((a, b) => a - b).join(',')}, 'The mix has changed.');
    const shades = ['p8', 'p5', 'p3', 'p7', 'p4', 'p6'];
    list.replaceChildren(keyTable(page, shown, [
      {heading: 'in the mix', cell: key => make('label', {}, make('input', {type: 'checkbox', checked: !out.has(key), value: key, onchange: () => toggle(key)}), ' ',
          make('span', {class: `swatch ${shades[shown.indexOf(key) % shades.length]}`}), ' ', page.token(key))},
      {heading: 'weight', cell: key => [bar(weights[key]), weightText(weights[key])]},
      {heading: 'norm of its value', cell: key => scoreText(norms.get(key))},
      {heading: 'weight × norm', cell: key => [bar(weights[key] * norms.get(key) / loudest, null, 'loud'), scoreText(weights[key] * norms.get(key))]},
      {heading: 'weight × value', cell: key => strip(page, 'v', key, rowOf(v, key), value => signedShade(value * weights[key], limit), 192)},
    ], ['What row ', page.token(page.row), ' takes home; blue is above 0, orange below']));

    // Above the axis what is added, below it what is taken off, and a mark at the sum.
    const width = widthOf(place), one = (width - 8) / blend.length, height = 150;
    const ups = new Float64Array(blend.length), downs = new Float64Array(blend.length), boxes = [];
    const totalUp = new Float64Array(blend.length), totalDown = new Float64Array(blend.length);
    for (const key of shown) rowOf(v, key).forEach((value, d) => { (value < 0 ? totalDown : totalUp)[d] += value * weights[key]; });
    const reach = Math.max(...totalUp, ...totalDown.map(Math.abs)) || 1, y = value => height / 2 - value / reach * (height / 2 - 4);
    for (const key of stacked) {
      const paths = rowOf(v, key).map((value, d) => value * weights[key]);
      let path = '';
      paths.forEach((value, d) => {
        const side = value < 0 ? downs : ups, from = y(side[d]);
        side[d] += value;
        path += `M${(4 + d * one).toFixed(2)} ${from.toFixed(2)}h${(one * 0.86).toFixed(2)}V${y(side[d]).toFixed(2)}h${(-one * 0.86).toFixed(2)}z`;
      });
      boxes.push(draw('path', {class: shades[shown.indexOf(key) % shades.length], d: path}, draw('title', {}, page.head.names[key])));
    }
    const mix = weights.slice();
    for (const key of read) if (out.has(key) || (shown.includes(key) && shown.indexOf(key) >= last)) mix[key] = 0;
    const sum = rowTimes(mix, v, depthOf(mix));
    let marks = '';
    sum.forEach((value, d) => { marks += `M${(4 + d * one).toFixed(2)} ${y(value).toFixed(2)}h${(one * 0.86).toFixed(2)}`; });
    chart.replaceChildren(make('p', {class: 'quiet'}, `Weight × value, stacked: one column for each of the ${blend.length} numbers, in the colours of the list. Above the line is what is added, below it what is taken off; the marks across are the sum.`),
        drawing(width, height, `${stacked.length} values stacked, number by number; the sum has a norm of ${scoreText(normOf(sum))}`,
        boxes, draw('path', {class: 'axis', d: `M4 ${y(0)}H${width - 4}`}), draw('path', {class: 'sum', d: marks}),
        draw('text', {x: 4, y: 12}, fixed(reach, 2)), draw('text', {x: 4, y: height - 4}, fixed(-reach, 2))),
        make('p', {class: 'quiet'}, 'The sum as a strip: ', strip(page, 'blend', page.row, sum, value => signedShade(value, limit), Math.min(256, width))));
    const isWhole = mix.every((weight, key) => weight === weights[key]);
    verdict.textContent = read.length === 0 ? 'No row has any weight here, so the blend is 0.'
        : isWhole ? `This is the blend of row ${page.row}${page.isChanged ? ' with what you changed' : ''}: ${sum.every((value, d) => sameBits(value, blend[d])) ? 'the same bits' : 'it differs'}. Its norm is ${scoreText(normOf(blend))}.`
        : `Not the whole blend: the norm is ${scoreText(normOf(sum))} instead of ${scoreText(normOf(blend))}, the cosine similarity with the blend ${fixed(cosine(sum, blend), 2)}.`;
  };
}

function cosine(a, b) {
  const both = normOf(a) * normOf(b);
  return both === 0 ? 0 : sumOf(a.map((value, d) => value * b[d])) / both;
}

// ---------------------------------------------------------------------------------------------------------------
// Two patterns side by side, flipped in one place: what differs jumps to the eye.

function flipOf(pair) {
  const sides = Array.from(pair.children), {previousElementSibling: before} = pair;
  if (sides.length !== 2 || (before && before.matches('.flips'))) return;
  const names = sides.map((side, i) => (side.querySelector('h2, h3') || {textContent: 'AB'[i]}).textContent);
  const says = make('span', {role: 'status', 'aria-live': 'polite'});
  let shown = null;  // null: both
  const both = button('Side by side', () => show(null), {hidden: true});
  const flip = button('Flip on the spot', () => show(shown === 0 ? 1 : 0));
  function show(which) {
    shown = which;
    sides.forEach((side, i) => { side.hidden = which !== null && which !== i; });
    both.hidden = which === null;
    flip.textContent = which === null ? 'Flip on the spot' : `Flip to ${names[1 - which]}`;
    says.textContent = which === null ? 'Both are shown.' : `Shown is ${names[which]}.`;
  }
  pair.before(make('div', {class: 'tools flips'}, flip, both, says));
}

// ---------------------------------------------------------------------------------------------------------------
// Everything together

const PANELS = {controls: controlsPanel, worked: workedPanel, gaps: gapsPanel, divisor: divisorPanel, mask: maskPanel, mixer: mixerPanel};

const mounted = new WeakMap();  // what is mounted on a root

// Brings a page to life: `root` holds what the program wrote, `data` the numbers. Returns what can be asked and undone.
// What was mounted there before is undone first.
function mount(root, data, address = pageAddress()) {
  if (mounted.has(root)) mounted.get(root).unmount();
  const page = new Page(root, data, address), {signal} = page.stop;
  mounted.set(root, page);
  const mark = (element, name) => {
    element.classList.add(name);
    page.undo.push(() => element.classList.remove(name));
  };
  mark(root, 'explorable');
  const places = page.places = Array.from(root.querySelectorAll('[data-panel]'));
  page.undo.push(() => places.forEach(place => place.replaceChildren()));
  const add = update => { if (update) page.panels.push(update); };
  const insert = (element, put) => {
    put(element);
    page.undo.push(() => element.remove());
  };

  const story = storyOf(page);
  page.tellsRows = Boolean(story);  // or of one row alone, as a lesson does
  add(story);
  for (const sentence of root.querySelectorAll('.sentence')) add(sentenceOf(page, sentence));
  for (const svg of root.querySelectorAll('figure > svg')) {
    const section = svg.closest('section[id]'), step = section ? section.id.slice(3) : (svg.parentElement.ariaLabel || '').startsWith('The attention pattern') ? 'softmax' : '';
    if (Object.hasOwn(WORKS, step) && page.head[step]) add(pictureOf(page, svg, step));
  }
  for (const table of root.querySelectorAll('table')) {
    const caption = table.caption ? table.caption.textContent : '';
    if (caption.startsWith('The attention pattern') && table.rows.length === page.n + 1 && data.first === 0 && data.end === page.n) add(patternOf(page, table));
    else if (table.rows.length > 0 && table.rows[0].cells[0].textContent === 'pos') add(tokenTableOf(page, table));
  }
  const controls = places.find(({dataset}) => dataset.panel === 'controls');
  if (controls) {
    const flow = make('aside', {class: 'flow', 'aria-label': 'The way through the head'});
    insert(flow, element => controls.before(element));
    add(flowOf(page, flow));
    // What follows the controls waits while the page asks for a prediction.
    for (let after = controls.nextElementSibling; after; after = after.nextElementSibling)
      if (!['FOOTER', 'TEMPLATE', 'SCRIPT'].includes(after.tagName)) mark(after, 'waits');
  }
  for (const place of places) if (PANELS[place.dataset.panel]) add(PANELS[place.dataset.panel](page, place));
  const changes = make('div', {class: 'changes', role: 'region', 'aria-label': 'What you changed', hidden: true});
  const footer = root.querySelector(':scope > footer');  // not there yet when the page's own script runs
  insert(changes, element => footer ? footer.before(element) : root.append(element));
  add(changesBar(page, changes));

  document.addEventListener('keydown', event => {
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || !event.target.closest || event.target.closest('input, select, textarea, [role=grid], figure')) return;
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (step) page.follow(page.row + step), event.preventDefault();
  }, {signal});
  address.listen(() => {
    if (address.read() !== '' && !address.read().includes('=')) return;  // a place of the page, not a state
    Object.assign(page.state, page.start, page.readAddress());
    page.update();
  }, signal);
  let width = root.clientWidth;
  addEventListener('resize', () => {
    if (root.clientWidth !== width) page.update();
    width = root.clientWidth;
  }, {signal});
  page.update();
  return {page, unmount: () => page.unmount()};
}

function start() {
  const numbers = document.getElementById('numbers');
  for (const pair of document.querySelectorAll('.pair')) flipOf(pair);
  if (numbers) mount(document.querySelector('main'), JSON.parse(numbers.textContent));
}

if (typeof document !== 'undefined') start();
