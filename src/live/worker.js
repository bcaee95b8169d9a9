// The program beside the page: an instance of the module (live.cpp), its files in memory, and one question at a time. The page
// runs it as a worker, made of this file and the module's; node loads it for the tests.
'use strict';

// make: the module's function. wasm: its bytes. files: {path, bytes} for the memory. progress: told (done, all) of long work.
// A folder of the reader's disk, {name, files: [{name, data}]}, stays where it is: its files are read in ranges.
async function openOnehead({make, wasm, files, own, progress}) {
  const onehead = await make({wasmBinary: wasm, progress, print: () => {}, printErr: () => {}});
  const folder = path => onehead.FS.mkdirTree(path.slice(0, path.lastIndexOf('/')));
  for (const {path, bytes} of files) {
    folder(path);
    onehead.FS.writeFile(path, bytes, {canOwn: true});
  }
  if (own) {
    onehead.FS.mkdirTree(own.name);
    onehead.FS.mount(onehead.WORKERFS, {blobs: own.files}, own.name);
  }

  // The answer's files by name: {"page.html": bytes, ...}. A failure is one, too: error.json.
  return function ask(question) {
    const asked = onehead.stringToNewUTF8(JSON.stringify(question));  // on the heap: a text may be longer than the stack
    if (asked === 0) throw new Error('out of memory');
    const count = onehead._onehead_ask(asked);
    onehead._free(asked);
    const answer = {};
    for (let i = 0; i < count; ++i) {
      const name = onehead.UTF8ToString(onehead._onehead_file_name(i));
      const at = onehead._onehead_file_bytes(i) >>> 0, size = onehead._onehead_file_size(i) >>> 0;
      answer[name] = onehead.HEAPU8.slice(at, at + size);
    }
    return answer;
  };
}

// In a browser. The first message is {wasm, files: [{path, blob}], own}, each later one a question with a number.
if (typeof WorkerGlobalScope !== 'undefined') {
  let ask = null;
  const bytesOf = blob => new Uint8Array(new FileReaderSync().readAsArrayBuffer(blob));
  const start = async ({wasm, files, own}) => {
    ask = await openOnehead({
      make: make_onehead, wasm: bytesOf(wasm), own,
      files: files.map(({path, blob}) => ({path, bytes: bytesOf(blob)})),
      progress: (done, all) => postMessage({done, all}),
    });
    postMessage({started: true});
  };
  onmessage = async ({data}) => {
    try {
      if (data.wasm) return await start(data);
      const started = performance.now();
      const answer = ask(data.question);
      postMessage({number: data.number, answer, milliseconds: performance.now() - started},
                  Object.values(answer).map(bytes => bytes.buffer));
    } catch (error) {  // the module itself broke off; what is wrong with a question is an answer
      postMessage({number: data.number, broken: String(error && error.message || error)});
    }
  };
}

if (typeof module !== 'undefined') module.exports = {openOnehead};
