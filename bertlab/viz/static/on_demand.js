// Chunks that are needed now: asked for once it is clear that they are wanted, and never drawn out of date.

const PATIENCE = 120; // ms before anything is asked for: a slider drawn past ten layers asks for one

// `ready(names)` says whether all are here; if not, it asks for them, and `arrived` is called when anything changes.
// An answer is never handed on: whoever draws looks for what is wanted then.
export function onDemand(source, arrived) {
  let asked = "", failed = null, timer = null, patience = 0;

  function ready(names) {
    const missing = names.filter((name) => source.peek(name) === undefined).join(" ");
    if (missing === asked) return !missing;
    clearTimeout(timer);
    asked = missing;
    failed = null;
    if (!missing) return true;
    const ask = () => source.load(missing.split(" ")).then(arrived, (error) => {
      if (asked === missing) failed = error;
      arrived();
    });
    timer = setTimeout(ask, patience);
    patience = PATIENCE; // the first picture need not wait
    return false;
  }

  return { ready, failed: () => failed, close: () => clearTimeout(timer) };
}
