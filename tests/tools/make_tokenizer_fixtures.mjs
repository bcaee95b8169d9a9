// Makes tests/reference/tokenizer/fixtures.json: hard texts and their GPT-2 token ids, from two tokenizers that are
// not ours. For the record; the tests need only the file that came of it. Outside the repository:
//   npm install gpt-3-encoder@1.1.4 js-tiktoken@1.0.21
//   node make_tokenizer_fixtures.mjs > fixtures.json
// How the two disagree with GPT-2, and how that is settled, stands in tests/reference/tokenizer/README.md.
import gpt3Encoder from "gpt-3-encoder";
import { Tiktoken, getEncoding } from "js-tiktoken";
import ranks from "js-tiktoken/ranks/gpt2";

const published = getEncoding("gpt2");
const whiteSpaceByProperty = ranks.pat_str.replaceAll("\\s", "\\p{White_Space}").replaceAll("\\S", "\\P{White_Space}");
const settling = new Tiktoken({ ...ranks, pat_str: whiteSpaceByProperty });

const space = (code) => String.fromCodePoint(code);
const spaces = [
  0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x85, 0xa0, 0x1680, 0x180e, 0x2000, 0x2001, 0x2002,
  0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a, 0x200b, 0x200c, 0x200d, 0x2028, 0x2029, 0x202f,
  0x205f, 0x2060, 0x3000, 0xfeff,
].map(space);
const controls = [0x00, 0x01, 0x07, 0x08, 0x1b, 0x7f, 0x80, 0x9f, 0xad, 0x200e, 0x200f, 0x202a, 0x202e, 0x2066, 0x2069].map(space);
const endings = ["s", "t", "re", "ve", "m", "ll", "d"];

const texts = [
  // The sentences of the lessons, and the values of the field
  "The cat sat on the mat", "The dog sat on the mat", "The cat sat on the rug", "Banana", " Banana", "Hello world",
  " Hello", "Hello ", "The unhappiness sat", 'He said "a,b"\nNA', "<|endoftext|>", " <|endoftext|> ", "a<|endoftext|>b",
  "<|endoftext|><|endoftext|>", "<|end of text|>",
  // Spaces in every place
  " ", "  ", "   ", "    ", "a b", "a  b", "a   b", " a", "  a", "   a", "a ", "a  ", "\n", "\n\n", "\n\n\n", " \n", "\n ",
  " \n ", "a\nb", "a\n\nb", "a \n b", "a\r\nb", "a\r\n\r\nb", "\t", "\t\t", "\ta", "a\tb", " \ta", "\t a", "\r", "\r\n",
  "  \n  \n  x", "x\n   y\n\tz", "    def f(x):\n        return x\n",
  ...spaces.flatMap((s) => [`a${s}b`, `a ${s}b`, `a${s} b`, `${s}${s}b`, s, `1${s}!`]),
  ...controls.flatMap((c) => [c, `a${c}b`, ` ${c} `]),
  // Contractions
  ...endings.flatMap((e) => [`it'${e}`, `it'${e.toUpperCase()}`, `it\u2019${e}`, `'${e}`, ` '${e}`, `'${e}x`, `1'${e} '${e}`]),
  "don't you've I'm we'll they'd she's you're", "DON'T YOU'VE I'M WE'LL THEY'D SHE'S YOU'RE", "rock 'n' roll", "''", "'''s",
  "'tis", "o'clock", "y'all'd've", "\u2018quoted\u2019", "'sss", "l'l", "'l", "'r", "'v",
  // Numbers
  "0", "12", "123", "1234567890", "3.14159", "1,000,000", "1e-5", "-1", "+1", "0x1F", "1st 2nd", "\u00bd \u2153 3\u00be", "x\u00b2 y\u00b3 \u2074",
  "H\u2082O", "\u2160\u2161\u2162 \u216f \u2170", "\u2460\u2461 \u2776", "\u0661\u0662\u0663", "\u0967\u0968\u0969", "\uff11\uff12\uff13", "\u4e00\u4e8c\u4e09", "\u3007", "a1b2c3", "2001: A", " 42", "  42", "\u{1d7d8}\u{1d7d9}",
  // Scripts of the world
  "Stra\u00dfe, na\u00efve caf\u00e9, \u00c5ngstr\u00f6m", "\u0141\u00f3d\u017a", "\u039a\u03b1\u03bb\u03b7\u03bc\u03ad\u03c1\u03b1 \u03ba\u03cc\u03c3\u03bc\u03b5", "\u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440!", "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd", "\u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd",
  "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645", "\u0645\u064e\u0631\u0652\u062d\u064e\u0628\u064b\u0627", "\u0928\u092e\u0938\u094d\u0924\u0947 \u0926\u0941\u0928\u093f\u092f\u093e", "\u0995\u09c7\u09ae\u09a8 \u0986\u099b\u09c7\u09a8", "\u0ba8\u0ba9\u0bcd\u0bb1\u0bbf", "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35\u0e0a\u0e32\u0e27\u0e42\u0e25\u0e01",
  "\u4f60\u597d\uff0c\u4e16\u754c\u3002", "\u3053\u3093\u306b\u3061\u306f\u4e16\u754c", "\u30ab\u30bf\u30ab\u30ca \uff76\uff80\uff76\uff85", "\uc548\ub155\ud558\uc138\uc694 \uc138\uacc4", "\u10d2\u10d0\u10db\u10d0\u10e0\u10ef\u10dd\u10d1\u10d0", "\u0532\u0561\u0580\u0587", "\u1230\u120b\u121d", "\u1787\u1798\u17d2\u179a\u17b6\u1794\u179f\u17bd\u179a",
  "\u1019\u1004\u103a\u1039\u1002\u101c\u102c\u1015\u102b", "\u0f56\u0f40\u0fb2\u0f0b\u0f64\u0f72\u0f66\u0f0b", "\u13a3\u13cf\u13e3", "\u16a0\u16a2\u16a6", "\u{10330}\u{10331}", "\u{12000}\u{12001}", "\u{20000}\u{2a6d6}", "Vi\u1ec7t Nam \u0111\u1eb9p", "I\u0307\u0131\u0130i", "\u01c5 \u01c8", "\ufb01\ufb02",
  // Combining marks, symbols, punctuation
  "e\u0301", "\u0301", " \u0301", "a\u0301\u0302\u0303b", "\u20ac5 \u00a33 \u00a51", "\u2122 \u00a9 \u00ae", "\u2014 \u2013 \u2026", "\u00abx\u00bb \u201ey\u201c", "\u2260 \u2264 \u221e \u2202x", "\u2192\u2190\u21d2", "\u2588\u2588\u2591", "!!!", "?!", "...", "--", "====", "a--b", " !", "  !", "! !",
  "_", "snake_case_name", "CamelCaseName", "#hashtag @name", "a&b|c", "^~`", "\\", "\\n", "\"", "(a) [b] {c}", "<a href=\"x\">y</a>", "=SUM(A1:A2)", "+cmd|' /C calc'!A0",
  // Emoji
  "\u{1f600}", " \u{1f600}", "a\u{1f600}b", "\u{1f600}\u{1f600}", "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}\u200d\u{1f466}", "\u{1f3f3}\ufe0f\u200d\u{1f308}", "\u{1f1e9}\u{1f1ea}\u{1f1eb}\u{1f1f7}", "\u2764\ufe0f", "\u{1f44b}\u{1f3fd}", "1\ufe0f\u20e3", "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
  "I \u2764\ufe0f NY \u{1f5fd}!", "\u2705 done \u274c",
  // Limits of Unicode
  "\ufffd", "\ufffc", "\ue000", "\u{f0000}", "\u{10ffff}", "\uffff", "\ufdd0", "\ud7ff", "\u07ff\u0800", "\u{ffff}\u{10000}", "\u007f\u0080",
  // Code and data
  "int main() { return 0; }", "for (int i = 0; i < n; ++i) x[i] += 1;", "if a != b:\n\tprint(\"no\")", "SELECT * FROM t WHERE id=1;", "{\"a\": [1, 2.5, null]}", "https://example.org/a?b=c&d=%20e#f",
  "user@example.org", "C:\\Users\\x", "$PATH:/usr/bin", "a,b,c\n1,2,3\n", "NA N/A nan NaN null None", "// comment\n/* x */", "x = y**2 # sq",
  // Names that are properties of JavaScript objects
  "toString valueOf hasOwnProperty", "prototype",
  // Long words and repetition
  "pneumonoultramicroscopicsilicovolcanoconiosis", "antidisestablishmentarianism", "Donaudampfschifffahrtsgesellschaft", "a".repeat(100), "ab".repeat(60), "ha".repeat(33), "=".repeat(75), "-".repeat(200),
  "\u00c3\u00c2".repeat(40), " ".repeat(50) + "x", "\n".repeat(20), "0".repeat(64), "aaa bbb  ccc   ddd", "\u4e2d".repeat(30), "x".repeat(7) + "y".repeat(9), "SolidGoldMagikarp", " SolidGoldMagikarp", "rawdownloadcloneembedreportprint",
];

const same = (a, b) => a.length === b.length && a.every((id, i) => id === b[i]);
const agreed = [];
const settled = [];
for (const text of new Set(texts)) {
  const ids = settling.encode(text, [], []);
  const published_ids = published.encode(text, [], []);
  const everyone = same(ids, published_ids) && same(ids, gpt3Encoder.encode(text));
  (everyone ? agreed : settled).push({ text, ids });
}

// Escaped, so that no editor and no checkout changes a text.
const escape = (json) => json.replace(/[^\x20-\x7e]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
const list = (cases) => "[\n" + cases.map((c) => escape(JSON.stringify(c))).join(",\n") + "\n]";
console.log(`{"agreed": ${list(agreed)},\n"settled": ${list(settled)}}`);
