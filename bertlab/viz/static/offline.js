// Jupyter's part in a page that was saved: state without a kernel, chunks out of the page itself.

// As `_packed` in export.py: five letters are four bytes, in base 85; the last group may be shorter.
const LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%:()*+-;,=.?@^_`{|}~";
const DIGITS = new Uint8Array(128);
[...LETTERS].forEach((letter, digit) => { DIGITS[letter.charCodeAt(0)] = digit; });

function bytesOf(text) {
  const groups = Math.ceil(text.length / 5), bytes = new DataView(new ArrayBuffer(4 * groups));
  for (let group = 0, at = 0; group < groups; group++) {
    let number = 0;
    for (let i = 0; i < 5; i++, at++) number = 85 * number + (at < text.length ? DIGITS[text.charCodeAt(at)] : 84);
    bytes.setUint32(4 * group, number);
  }
  return new Uint8Array(bytes.buffer, 0, 4 * groups - (5 * groups - text.length));
}

async function unpacked(text) {
  const stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new DataView(await new Response(stream).arrayBuffer());
}

function standIn(state, chunks) {
  const listeners = {};
  const emit = (event, ...values) => {
    for (const listener of [...(listeners[event] ?? [])]) listener(...values);
  };
  return {
    get: (key) => state[key],
    set: (key, value) => {
      state[key] = value;
      emit(`change:${key}`);
    },
    save_changes: () => {},
    on: (event, listener) => (listeners[event] ??= []).push(listener),
    off: (event, listener) => {
      listeners[event] = (listeners[event] ?? []).filter((other) => other !== listener);
    },
    send: async ({ want }) => {
      for (const name of want) {
        if (!(name in chunks)) emit("msg:custom", { chunk: name, error: `this page holds no ${name}` }, []);
        else emit("msg:custom", { chunk: name }, await Promise.all(chunks[name].map(unpacked)));
      }
    },
  };
}

export default (widget) => {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const el = document.getElementById("view");
  el.replaceChildren();
  widget.render({ model: standIn(read("state"), read("chunks")), el });
};
