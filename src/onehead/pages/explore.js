// What makes trace.html a thing to play with: the page's numbers, worked out again in the reader's browser.
//
// The first part is the arithmetic of one head, in the order of operations of attention/head.cpp and math/exp.cpp, so
// it gives the same bits: float32 values, every sum in double and in index order, rounded once. It knows nothing of
// the page, and node can load it. The second part works one number out term by term. The page itself is in panels.js.
'use strict';

// ---------------------------------------------------------------------------------------------------------------
// 1. The arithmetic
// ---------------------------------------------------------------------------------------------------------------

// A matrix of float32, row after row. Of a long text it may hold only the rows from `first` on.
function matrix(rows, columns, values = new Float32Array(rows * columns), first = 0) {
  return {rows, columns, values, first};
}

function rowOf(m, i) {
  return m.values.subarray((i - m.first) * m.columns, (i - m.first + 1) * m.columns);
}

// e^x = 2^n * e^r with n = round(x / ln 2): a series for e^r, and 2^n put together from its bits.
const LOG2_E = 1.4426950408889634;
const LN2_HIGH = 0.6931471803691238;  // ln 2 in two parts: n times the first is exact
const LN2_LOW = 1.9082149292705877e-10;
const ROUNDER = 6755399441055744;  // 1.5 * 2^52: adding it and taking it away rounds to a whole number
const SERIES = [6227020800, 479001600, 39916800, 3628800, 362880, 40320, 5040, 720, 120, 24, 6, 2, 1, 1].map(f => 1 / f);
const power = {bits: new DataView(new ArrayBuffer(8))};

function exponential(x) {
  if (Number.isNaN(x)) return x;
  if (x < -708) return 0;
  if (x > 709) return Infinity;
  const n = x * LOG2_E + ROUNDER - ROUNDER;
  const r = x - n * LN2_HIGH - n * LN2_LOW;
  let sum = 0;
  for (const term of SERIES) sum = sum * r + term;
  power.bits.setUint32(0, (n + 1023) << 20);
  return sum * power.bits.getFloat64(0);
}

// x [pos, d_model] to the rows that the head reads. `kind` is "raw" or "unbiased" in two experiments.
function normalize(x, gain, bias, epsilon, kind = '') {
  if (kind === 'raw') return x;
  const n = x.columns;
  const factor = kind === 'unbiased' ? (n - 1) / n : 1;
  const normalized = matrix(x.rows, n, undefined, x.first);
  for (let i = x.first; i < x.first + x.rows; ++i) {
    const row = rowOf(x, i), out = rowOf(normalized, i);
    const {mean, variance} = moments(row);
    const root = Math.sqrt(variance + epsilon * factor);
    for (let d = 0; d < n; ++d) out[d] = (row[d] - mean) / root * unbiasedGain(gain[d], factor) + bias[d];
  }
  return normalized;
}

function unbiasedGain(gain, factor) {
  return factor === 1 ? gain : Math.fround(gain * Math.sqrt(factor));
}

function moments(row) {
  let sum = 0;
  for (const value of row) sum += value;
  const mean = sum / row.length;
  let squares = 0;
  for (const value of row) squares += (value - mean) * (value - mean);
  return {mean, variance: squares / row.length};
}

// a [n, inner] times b [inner, m], plus a bias [m] last: [n, m].
function product(a, b, bias) {
  const result = matrix(a.rows, b.columns, undefined, a.first);
  for (let i = a.first; i < a.first + a.rows; ++i) rowOf(result, i).set(rowTimes(rowOf(a, i), b, a.columns, bias));
  return result;
}

// A row [inner] times b [inner, m], over the first `depth` of the inner index: [m].
function rowTimes(row, b, depth, bias) {
  const sums = new Float64Array(b.columns);
  for (let d = 0; d < depth; ++d) {
    const times = row[d], numbers = rowOf(b, d);
    for (let j = 0; j < sums.length; ++j) sums[j] += times * numbers[j];
  }
  if (bias) for (let j = 0; j < sums.length; ++j) sums[j] += bias[j];
  return Float32Array.from(sums);
}

// The query of one row [d_head] with each key [key_pos, d_head]: [key_pos].
function scoresOf(query, k) {
  const scores = new Float32Array(k.rows);
  for (let j = 0; j < k.rows; ++j) {
    const key = rowOf(k, j);
    let sum = 0;
    for (let d = 0; d < key.length; ++d) sum += query[d] * key[d];
    scores[j] = sum;
  }
  return scores;
}

function scale(scores, divisor) {
  return scores.map(score => score / divisor);
}

// What is written over the scores of later keys; null if they stay.
const OVER = {'-inf': -Infinity, 'none': null, '0': 0, '-10000': -10000, 'after': null};

// Row i of the scaled scores with its later keys masked: [key_pos].
function mask(scaled, i, kind) {
  const masked = scaled.slice();
  if (OVER[kind] !== null) masked.fill(OVER[kind], i + 1);
  return masked;
}

// One row of scores to weights that sum to 1. Adding a number to every score changes no weight: `shift` shows it.
function softmax(masked, shift = 0) {
  let largest = -Infinity;
  for (const score of masked) largest = Math.max(largest, score + shift);
  const powers = Float64Array.from(masked, score => exponential(score + shift - largest));
  let total = 0;
  for (const value of powers) total += value;
  return Float32Array.from(powers, value => value / total);
}

// The weights [key_pos] of row i, as this kind of mask leaves them.
function weightsOf(masked, i, kind, shift = 0) {
  const weights = softmax(masked, shift);
  if (kind === 'after') weights.fill(0, i + 1);
  return weights;
}

// How many keys a blend reads: up to the last weight that is not 0.
function depthOf(weights) {
  let depth = weights.length;
  while (depth > 0 && weights[depth - 1] === 0) --depth;
  return depth;
}

// Everything that row i of a head computes from q, k, v and W_o.
function attend(head, i, {divisor, mask: kind, shift = 0}) {
  const scores = scoresOf(rowOf(head.q, i), head.k);
  const scaled = scale(scores, divisor);
  const masked = mask(scaled, i, kind);
  const weights = weightsOf(masked, i, kind, shift);
  const blend = rowTimes(weights, head.v, depthOf(weights));
  const output = head.w_o ? rowTimes(blend, head.w_o, blend.length) : null;
  return {scores, scaled_scores: scaled, masked_scores: masked, softmax: weights, blend, output_projection: output};
}

// The numbers of several rows added up, and rounded once: what the other heads add; the row that leaves.
function sumOfRows(rows) {
  const sums = new Float64Array(rows[0].length);
  for (const row of rows) for (let d = 0; d < sums.length; ++d) sums[d] += row[d];
  return Float32Array.from(sums);
}

// The outputs of all heads of the layer for row i, in head order.
function inHeadOrder(head, i, output) {
  const outputs = head.others.map(other => rowOf(other, i));
  outputs.splice(head.place, 0, output);
  return outputs;
}

// What a pattern's row tells about itself.
function effectiveRows(weights) {
  let entropy = 0;
  for (const p of weights) if (p > 0) entropy -= p * Math.log(p);
  return Math.exp(entropy);
}

// What the slopes p(1 - p) of a row's weights add up to.
function slopes(weights) {
  let squares = 0;
  for (const p of weights) squares += p * p;
  return 1 - squares;
}

function sumOf(values, from = 0, to = values.length) {
  let sum = 0;
  for (let i = from; i < to; ++i) sum += values[i];
  return sum;
}

function normOf(values) {
  return Math.sqrt(sumOf(values.map(value => value * value)));
}

function sameBits(a, b) {
  return Object.is(a, b) || (Number.isNaN(a) && Number.isNaN(b));
}

// ---------------------------------------------------------------------------------------------------------------
// 2. One number, worked out: the lines that `onehead worked` prints
// ---------------------------------------------------------------------------------------------------------------

// A sheet of lines {what, left, right, value, running}: running is the sum so far, where the line is a term of one.
class Sheet {
  constructor() {
    this.lines = [];
    this.sum = 0;
  }
  note(what, value, left, right) {
    this.lines.push({what, left, right, value});
    return value;
  }
  add(what, value, left, right) {
    this.sum += value;
    this.lines.push({what, left, right, value, running: this.sum});
  }
  multiply(what, left, right) {
    this.add(what, left * right, left, right);
  }
  startSum() {
    this.sum = 0;
  }
}

// head: as for `attend`, with weights w_q, b_q and so on, and residual, where they are known. values: the row's steps.
// Returns {lines, result}, the result rounded to float32; nothing if the page does not hold what it is made of.
function workOut(head, values, settings, step, row, column) {
  const sheet = new Sheet();
  const work = WORKS[step];
  if (!work) return null;
  const exact = work(sheet, {head, values, settings, row, column});
  if (exact === undefined) return null;
  const result = Math.fround(exact);
  const last = sheet.lines[sheet.lines.length - 1];
  if (last === undefined || last.running !== undefined || !sameBits(last.value, result))
    sheet.note('rounded to float32', result, exact);
  return {lines: sheet.lines, result};
}

const WORKS = {
  token_embedding: (sheet, {head, row, column}) => sheet.note(`wte[${head.ids[row]}, ${column}]`, rowOf(head.token_embedding, row)[column]),
  position_embedding: (sheet, {head, row, column}) => sheet.note(`wpe[${row}, ${column}]`, rowOf(head.position_embedding, row)[column]),
  residual(sheet, {head, row, column}) {
    if (!head.token_embedding) return sheet.note('residual', rowOf(head.residual, row)[column]);
    sheet.add('token_embedding', rowOf(head.token_embedding, row)[column]);
    sheet.add('position_embedding', rowOf(head.position_embedding, row)[column]);
    return sheet.sum;
  },
  normalized(sheet, {head, row, column}) {
    if (!head.residual || !head.gain) return undefined;
    const values = rowOf(head.residual, row), n = values.length;
    if (head.layer_norm === 'raw') return sheet.note('residual', values[column]);
    values.forEach((value, d) => sheet.add(`residual[${d}]`, value));
    const mean = sheet.note(`mean: sum / ${n}`, sheet.sum / n, sheet.sum, n);
    sheet.startSum();
    values.forEach((value, d) => sheet.add(`(residual[${d}] - mean)^2`, (value - mean) * (value - mean), value, mean));
    const variance = sheet.note(`variance: sum / ${n}`, sheet.sum / n, sheet.sum, n);
    let epsilon = head.epsilon, gain = head.gain[column];
    if (head.layer_norm === 'unbiased') {
      const factor = (n - 1) / n;
      epsilon = sheet.note('epsilon * factor', epsilon * factor, epsilon, factor);
      gain = sheet.note('gain * root of the factor, rounded to float32', unbiasedGain(gain, factor), gain, Math.sqrt(factor));
    }
    const root = sheet.note('root of (variance + epsilon)', Math.sqrt(variance + epsilon), variance, epsilon);
    const centred = sheet.note(`residual[${column}] - mean`, values[column] - mean, values[column], mean);
    const divided = sheet.note('divided by the root', centred / root, centred, root);
    const gained = sheet.note('times gain', divided * gain, divided, gain);
    return sheet.note('plus bias', gained + head.bias[column], gained, head.bias[column]);
  },
  q: (sheet, cell) => workProjection(sheet, cell, 'q'),
  k: (sheet, cell) => workProjection(sheet, cell, 'k'),
  v: (sheet, cell) => workProjection(sheet, cell, 'v'),
  scores(sheet, {head, row, column}) {
    const key = rowOf(head.k, column);
    rowOf(head.q, row).forEach((value, d) => sheet.multiply(`q[${d}] * k[${d}]`, value, key[d]));
    return sheet.sum;
  },
  scaled_scores(sheet, {values, settings, column}) {
    const score = values.scores[column];
    return sheet.note('score / divisor', score / settings.divisor, score, settings.divisor);
  },
  masked_scores(sheet, {values, settings, row, column}) {
    const over = column > row ? OVER[settings.mask] : null;
    const scaled = values.scaled_scores[column];
    if (over === null) return sheet.note('scaled score', scaled);
    return sheet.note(`scaled score, written over with ${over === -Infinity ? '-inf' : over}`, over, scaled);
  },
  softmax(sheet, {head, values, settings, row, column}) {
    const masked = values.masked_scores;
    if (masked[column] === -Infinity) return sheet.note('masked', 0);
    const largest = Math.max(...masked), best = masked.indexOf(largest);
    sheet.note(`the largest, of key ${head.names[best]}`, largest);
    let mine = 0;
    masked.forEach((score, j) => {
      if (score === -Infinity) return;
      const below = sheet.note(`key ${head.names[j]}: score - largest`, score - largest, score, largest);
      sheet.add(`key ${head.names[j]}: exp(difference)`, exponential(below), below);
      if (j === column) mine = exponential(below);
    });
    const weight = sheet.note(`weight of key ${head.names[column]}: its exp / sum`, mine / sheet.sum, mine, sheet.sum);
    if (settings.mask === 'after' && column > row) return sheet.note('masked after the softmax: 0 written over it', 0, weight);
    return weight;
  },
  blend(sheet, {head, values, column}) {
    if (depthOf(values.softmax) === 0) return sheet.note('nothing to add', 0);
    for (let j = 0; j < depthOf(values.softmax); ++j)
      sheet.multiply(`weight of ${head.names[j]} * its v[${column}]`, values.softmax[j], rowOf(head.v, j)[column]);
    return sheet.sum;
  },
  output_projection(sheet, {head, values, column}) {
    if (!head.w_o) return undefined;
    values.blend.forEach((value, d) => sheet.multiply(`blend[${d}] * W_o[${d}, ${column}]`, value, rowOf(head.w_o, d)[column]));
    return sheet.sum;
  },
  other_heads(sheet, cell) {
    if (!cell.head.others) return undefined;
    addHeads(sheet, cell, null);
    return sheet.sum;
  },
  projection_bias: (sheet, {head, column}) => sheet.note(`b_o[${column}]`, head.b_o[column]),
  residual_after(sheet, {head, values, row, column}) {
    if (!head.others) return undefined;
    sheet.add('residual', rowOf(head.residual, row)[column]);
    addHeads(sheet, {head, row, column}, values.output_projection);
    sheet.add(`b_o[${column}]`, head.b_o[column]);
    return sheet.sum;
  },
};

function addHeads(sheet, {head, row, column}, output) {
  inHeadOrder(head, row, output).forEach((values, h) => {
    if (values) sheet.add(h === head.place ? `head ${h}, this one` : `head ${h}`, values[column]);
  });
}

function workProjection(sheet, {head, row, column}, name) {
  const w = head[`w_${name}`];
  if (!w || !head.normalized) return undefined;
  rowOf(head.normalized, row).forEach((value, d) => sheet.multiply(`normalized[${d}] * W_${name}[${d}, ${column}]`, value, rowOf(w, d)[column]));
  sheet.add(`b_${name}[${column}]`, head[`b_${name}`][column]);
  return sheet.sum;
}


if (typeof module !== 'undefined')
  module.exports = {matrix, rowOf, exponential, normalize, product, attend, weightsOf, effectiveRows, sameBits, workOut};
