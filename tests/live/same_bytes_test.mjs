// The module in node: every run of tests/reference/trace.sha256 gives the committed hashes, so WebAssembly computes the same bits
// as every other build; and what is wrong with a question is a sentence. ONEHEAD_LIVE: the folder with live.js and live.wasm.
import assert from 'node:assert/strict';
import {createHash} from 'node:crypto';
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {test} from 'node:test';

const require = createRequire(import.meta.url);
const source = new URL('../../', import.meta.url).pathname;
const folder = process.env.ONEHEAD_LIVE;
const {openOnehead} = require(`${source}src/live/worker.js`);
const files = ['config.json', 'merges.txt', 'vocab.json', 'model.safetensors']
  .map(name => ({path: `/data/gpt2-mini/${name}`, bytes: readFileSync(`${source}data/gpt2-mini/${name}`)}));
const ask = await openOnehead({make: require(`${folder}/live.js`), wasm: readFileSync(`${folder}/live.wasm`), files});

const sha256 = bytes => createHash('sha256').update(bytes).digest('hex');
const json = bytes => JSON.parse(new TextDecoder().decode(bytes));

// The options of a line of the list, as a question.
function questionOf(options) {
  const words = options.split(' '), question = {ask: 'files', format: 'csv,npy'};
  for (let i = 0; i < words.length; i += 2) {
    const name = words[i].slice(2), value = words[i + 1];
    if (name === 'text-file') question.text = readFileSync(source + value, 'utf8').replace(/\n$/, '');
    else if (name === 'tokens') question.tokens = value.split(',').map(Number);
    else if (name === 'layer' || name === 'head') question[name] = Number(value);
    else question[name] = value;
  }
  return question;
}

// As tests/same_bytes has it: the sha256 of what sha256sum prints of the step files in order of name.
function hashesOf(answer) {
  const steps = Object.keys(answer).filter(name => /^\d.*\.(csv|npy)$/.test(name));
  const kinds = ['csv', 'npy'].map(kind => steps.filter(name => name.endsWith(kind)).sort()).flat();
  return [sha256(kinds.map(name => `${sha256(answer[name])}  ${name}\n`).join('')), sha256(answer['tokens.csv'])];
}

const runs = readFileSync(`${source}tests/reference/trace.sha256`, 'utf8').split('\n').filter(line => line && !line.startsWith('#'));

test('all committed runs are in the list', () => assert.ok(runs.length >= 31));

for (const line of runs) {
  const [steps, tokens, options] = line.match(/^(\S+) {2}(\S+) {2}(.*)$/).slice(1);
  test(`the committed bytes: ${options}`, () => {
    const answer = ask(questionOf(options));
    assert.equal(answer['error.json'] && json(answer['error.json']).message, undefined);
    assert.deepEqual(hashesOf(answer), [steps, tokens]);
  });
}

test('what is wrong is a sentence that names the field', () => {
  for (const [question, field, word] of [
    [{ask: 'trace', text: ''}, 'text', 'at least one token'],
    [{ask: 'trace', head: 3}, 'head', 'from 0 to 2'],
    [{ask: 'trace', layer: 4}, 'layer', '0, 1, 2, 3'],
    [{ask: 'trace', row: 6}, 'row', 'from 0 to 5'],
    [{ask: 'trace', experiment: 'nonsense'}, 'experiment', 'unscaled'],
    [{ask: 'trace', text: 'word '.repeat(100000)}, 'text', 'shorten it'],
    [{ask: 'causality', change: 1, word: ''}, 'word', 'at least one character'],
    [{ask: 'trace', model: '/nowhere'}, '', 'nowhere'],
    [{ask: 'nonsense'}, 'ask', 'no such question'],
  ]) {
    const answer = ask(question);
    assert.deepEqual(Object.keys(answer), ['error.json'], JSON.stringify(question).slice(0, 80));
    const {message, field: named} = json(answer['error.json']);
    assert.equal(named, field);
    assert.ok(message.includes(word) && !message.includes('\n'), message);
  }
});

test('every kind of page comes', () => {
  const text = 'The cat sat on the mat';
  for (const question of [{ask: 'trace'}, {ask: 'compare', with: {experiment: 'unscaled'}}, {ask: 'causality', change: 1, word: 'dog'},
                          {ask: 'causality', word: 'and slept'}, {ask: 'next', experiment: 'silent'},
                          {ask: 'worked', step: 'scores', row: 4, column: 1}]) {
    const answer = ask({text, ...question});
    assert.equal(answer['error.json'] && json(answer['error.json']).message, undefined);
    assert.match(new TextDecoder().decode(answer['page.html']), /^<!doctype html>/);
    assert.match(json(answer['facts.json']).fingerprint, /^[0-9a-f]{16}$/);
  }
});

test('the small pictures of the heads are those of the patterns', () => {
  const {heads, side} = json(ask({ask: 'heads', text: 'The cat sat on the mat'})['heads.json']);
  assert.equal(side, 6);
  assert.deepEqual(heads.map(({layer, head}) => `${layer}.${head}`), [0, 1, 2, 3].flatMap(layer => [0, 1, 2].map(head => `${layer}.${head}`)));
});
