// Jupyter's part in a page that was saved: state without a kernel, chunks out of the page itself.

async function unpacked(base64) {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
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
