// What is too large to be sent at once: asked for by name, kept while there is room, decoded once.

export function chunks(model, decode, room = 96) {
  const kept = new Map(), waiting = new Map();

  function arrived(content, buffers) {
    const asked = waiting.get(content.chunk);
    if (!asked) return; // another view of the same model asked for it
    waiting.delete(content.chunk);
    if (content.error) return asked.refuse(new Error(content.error));
    const value = decode(content.chunk, buffers);
    kept.set(content.chunk, value);
    while (kept.size > room) kept.delete(kept.keys().next().value); // the one unused for longest
    asked.accept(value);
  }

  function peek(name) {
    if (!kept.has(name)) return undefined;
    const value = kept.get(name);
    kept.delete(name);
    kept.set(name, value); // now the most recently used
    return value;
  }

  // All of `names`, decoded; those that are not here are asked for in one message.
  async function load(names) {
    const missing = names.filter((name) => !kept.has(name) && !waiting.has(name));
    for (const name of missing) {
      const asked = {};
      asked.promise = new Promise((accept, refuse) => Object.assign(asked, { accept, refuse }));
      waiting.set(name, asked);
    }
    const promises = names.map((name) => waiting.get(name)?.promise ?? peek(name));
    if (missing.length) model.send({ want: missing });
    return Promise.all(promises);
  }

  model.on("msg:custom", arrived);
  return { peek, load, close: () => model.off("msg:custom", arrived) };
}
