// The arithmetic of explore.js against the CSVs that the program writes: every step from `normalized` on, of 20 traces
// and of every experiment, to the last bit; and numbers worked out against the lines of `onehead worked`.
// The weights come from the checkpoint itself. ONEHEAD_BIN and ONEHEAD_SOURCE are set as for the tests of the programs.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import {createRequire} from 'node:module';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';

const source = process.env.ONEHEAD_SOURCE, program = path.join(process.env.ONEHEAD_BIN, 'onehead');
const {matrix, rowOf, normalize, product, attend, sameBits, workOut} =
    createRequire(import.meta.url)(path.join(source, 'src/onehead/pages/explore.js'));
const mini = path.join(source, 'data/gpt2-mini');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'onehead-'));
test.after(() => fs.rmSync(folder, {recursive: true}));

const ATTENDED = ['scores', 'scaled_scores', 'masked_scores', 'softmax', 'blend', 'output_projection'];
const EXPERIMENTS = ['', 'unscaled', 'divide-by-sqrt-d-model', 'unmasked', 'masked-after-softmax', 'masked-by-zero', 'masked-by-10000',
                     'no-bias', 'raw-row', 'unbiased-variance', 'wrong-slice', 'transposed-output', 'alone'];
const MASKS = {'unmasked': 'none', 'masked-after-softmax': 'after', 'masked-by-zero': '0', 'masked-by-10000': '-10000'};
const TEXTS = ['The cat sat on the mat', 'a', 'to be or not to be, that is the question', 'He said "a,b"\nNA', '\u{1F600} and \u05e9'];

function run(...args) {
  return execFileSync(program, [...args, '--model', mini, '--quiet'].map(String), {encoding: 'utf8'});
}

function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1, exponent = bits >> 10 & 31, fraction = bits & 1023;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15));
}

// A tensor of the checkpoint, which holds halves.
const checkpoint = fs.readFileSync(path.join(mini, 'model.safetensors'));
const header_end = 8 + Number(checkpoint.readBigUInt64LE(0));
const header = JSON.parse(checkpoint.subarray(8, header_end));
function tensor(name) {
  const {dtype, shape, data_offsets: [begin, end]} = header[name];
  assert.equal(dtype, 'F16');
  const values = new Float32Array((end - begin) / 2);
  for (let i = 0; i < values.length; ++i) values[i] = half(checkpoint.readUInt16LE(header_end + begin + 2 * i));
  return matrix(shape.length === 1 ? 1 : shape[0], shape[shape.length - 1], values);
}

function columns(m, first, count) {
  const cut = matrix(m.rows, count);
  for (let i = 0; i < m.rows; ++i) rowOf(cut, i).set(rowOf(m, i).subarray(first, first + count));
  return cut;
}

function transposed(m) {
  const turned = matrix(m.columns, m.rows);
  for (let i = 0; i < m.rows; ++i) for (let j = 0; j < m.columns; ++j) rowOf(turned, j)[i] = rowOf(m, i)[j];
  return turned;
}

// What the head multiplies with, cut out of the checkpoint as this experiment wants it.
function weights(layer, head, experiment) {
  const part = name => tensor(`h.${layer}.${name}`);
  const attention = part('attn.c_attn.weight'), biases = part('attn.c_attn.bias'), width = 64, d_model = attention.rows;
  const first = experiment === 'wrong-slice' ? i => 3 * head * width + i * width : i => i * d_model + head * width;
  const c_proj = experiment === 'transposed-output' ? transposed(part('attn.c_proj.weight')) : part('attn.c_proj.weight');
  const result = {gain: part('ln_1.weight').values, bias: part('ln_1.bias').values, epsilon: 1e-5,
                  layer_norm: {'raw-row': 'raw', 'unbiased-variance': 'unbiased'}[experiment],
                  w_o: matrix(width, d_model, c_proj.values.slice(head * width * d_model, (head + 1) * width * d_model))};
  ['q', 'k', 'v'].forEach((name, i) => {
    result[`w_${name}`] = columns(attention, first(i), width);
    result[`b_${name}`] = experiment === 'no-bias' ? new Float32Array(width) : columns(biases, first(i), width).values;
  });
  return result;
}

// A line of a CSV to its fields.
function fields(line) {
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(m => m[1] === undefined ? m[2] : m[1].replaceAll('""', '"'));
}

// The lines of a CSV without its heading; a quoted field may go on in the next.
function records(text) {
  const lines = [];
  let open = '';
  for (const line of text.split('\n').slice(0, -1)) {
    open += open === '' ? line : `\n${line}`;
    if ((open.match(/"/g) || []).length % 2 === 0) lines.push(open), open = '';
  }
  return lines.slice(1).map(fields);
}

function readStep(trace, stem) {
  const rows = records(fs.readFileSync(path.join(trace, `${stem}.csv`), 'utf8')).map(
      record => record.slice(3).map(value => value === '-inf' ? -Infinity : Number(value)));
  return matrix(rows.length, rows[0].length, Float32Array.from(rows.flat()));
}

const STEMS = ['03_residual', '04_normalized', '05_q', '06_k', '07_v', '08_scores', '09_scaled_scores', '10_masked_scores', '11_softmax',
               '12_blend', '13_output_projection'];

function readTrace(trace) {
  return Object.fromEntries(STEMS.map(stem => [stem.slice(3), readStep(trace, stem)]));
}

// How many numbers were compared; fails at the first that differs.
function compare(mine, theirs, what) {
  assert.equal(mine.length, theirs.length, what);
  for (let i = 0; i < mine.length; ++i) assert.ok(sameBits(mine[i], theirs[i]), `${what}[${i}]: ${mine[i]}, but the CSV has ${theirs[i]}`);
  return mine.length;
}

function settingsOf(experiment) {
  const divisor = {'unscaled': 1, 'divide-by-sqrt-d-model': Math.sqrt(192)}[experiment] || 8;
  return {divisor, mask: MASKS[experiment] || '-inf'};
}

function check(name, options) {
  const {text = [], layer, head, experiment} = options;
  const trace = path.join(folder, name);
  run('trace', ...text, '--layer', layer, '--head', head, '--out', trace, '--format', 'csv', ...(experiment ? ['--experiment', experiment] : []));
  const steps = readTrace(trace), w = weights(layer, head, experiment);
  const normalized = normalize(steps.residual, w.gain, w.bias, w.epsilon, w.layer_norm);
  let count = compare(normalized.values, steps.normalized.values, `${name}: normalized`);
  const head_data = {w_o: w.w_o};
  for (const step of ['q', 'k', 'v']) {
    head_data[step] = product(normalized, w[`w_${step}`], w[`b_${step}`]);
    count += compare(head_data[step].values, steps[step].values, `${name}: ${step}`);
  }
  for (let i = 0; i < normalized.rows; ++i) {
    const values = attend(head_data, i, settingsOf(experiment));
    for (const step of ATTENDED) count += compare(values[step], rowOf(steps[step], i), `${name}: ${step} of row ${i}`);
  }
  return count;
}

test('20 traces to the last bit', context => {
  let count = 0, traces = 0;
  for (const [t, text] of TEXTS.entries())
    for (const [layer, head] of [[0, 0], [1, 2], [2, 1], [3, 2]].slice(t === 0 ? 0 : 1))
      count += check(`trace-${traces++}`, {text: ['--text', text], layer, head});
  for (const [layer, head, file] of [[3, 2, 'data/texts/fox.txt'], [0, 2, 'data/texts/names.txt'], [1, 0, 'tests/reference/100-tokens.txt'],
                                     [3, 0, 'data/texts/brackets.txt']])
    count += check(`trace-${traces++}`, {text: ['--text-file', path.join(source, file)], layer, head});
  assert.equal(traces, 20);
  context.diagnostic(`${count} numbers with the same bits`);
});

for (const experiment of EXPERIMENTS.slice(1))
  test(`the experiment ${experiment}`, context => {
    let count = 0;
    for (const [layer, head] of [[0, 0], [3, 2]]) count += check(`${experiment}-${layer}`, {layer, head, experiment});
    context.diagnostic(`${count} numbers with the same bits`);
  });

test('adding a number to every score changes no weight', () => {
  const trace = path.join(folder, 'shifted');
  run('trace', '--out', trace, '--format', 'csv');
  const steps = readTrace(trace), head = {...steps, w_o: weights(0, 0, '').w_o};
  for (let i = 0; i < 6; ++i)
    for (const shift of [-40, -0.25, 3.5, 40])
      compare(attend(head, i, {...settingsOf(''), shift}).softmax, rowOf(steps.softmax, i), `row ${i} plus ${shift}`);
});

// Each line of `onehead worked`, as CSV: what,left,right,value,running_sum.
test('a number is worked out in the lines of onehead worked', () => {
  const cells = [['normalized', 4, 7], ['q', 4, 0], ['k', 1, 63], ['v', 5, 9], ['scores', 4, 1], ['scores', 1, 4], ['scaled_scores', 4, 1],
                 ['masked_scores', 4, 1], ['masked_scores', 4, 5], ['softmax', 4, 1], ['softmax', 4, 5], ['blend', 4, 0], ['output_projection', 4, 100]];
  for (const experiment of ['', 'unscaled', 'masked-after-softmax', 'masked-by-zero', 'unbiased-variance', 'raw-row', 'no-bias']) {
    const trace = path.join(folder, `worked-${experiment}`), option = experiment ? ['--experiment', experiment] : [];
    run('trace', '--out', trace, '--format', 'csv', ...option);
    const steps = readTrace(trace), head = {...weights(0, 0, experiment), ...steps};
    head.names = records(fs.readFileSync(path.join(trace, 'tokens.csv'), 'utf8')).map(record => `${record[0]} ${record[2]}`);
    const settings = settingsOf(experiment);
    for (const [step, row, column] of cells) {
      const name = `${step} ${row} ${column} ${experiment}`, csv = path.join(folder, 'worked.csv');
      execFileSync(program, ['worked', step, row, column, '--model', mini, '--csv', csv, ...option].map(String));
      const theirs = records(fs.readFileSync(csv, 'utf8')), mine = workOut(head, attend(head, row, settings), settings, step, row, column);
      assert.equal(mine.lines.length, theirs.length, name);
      mine.lines.forEach((line, i) => {
        const numbers = [line.left, line.right, line.value, line.running];
        const [, ...expected] = theirs[i].map((field, place) => place === 0 ? field : field === '' ? undefined : field === '-inf' ? -Infinity : Number(field));
        numbers.forEach((number, place) => assert.ok(sameBits(number, expected[place]), `${name}, line ${i}: ${numbers}, but ${theirs[i]}`));
      });
      assert.ok(sameBits(mine.result, rowOf(steps[step], row)[column]), name);
    }
  }
});
