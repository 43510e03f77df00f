import { choices, follow, frame, html, put, slider } from "./kit.js";
import { headSource } from "./weights.js";
import { oneHead, putAll, scaleToggle, tokenList, TRAITS } from "./one_head.js";

function render({ model, el }) {
  const data = model.get("payload"), source = headSource(model);
  const root = frame(el, "matrix-view", "Matrix view: where each token looks, as a heat map", () => false);
  const panel = oneHead(model, root, source), tokens = tokenList(data), scale = scaleToggle(model);
  const sets = choices("show", data.sets.map(({ name }) => name), (i) => putAll(model, { set_number: i, cell: [] }));
  const layerPlace = html("div", {}), headPlace = html("div", {});
  panel.tools.append(scale.button);
  root.append(...(data.sets.length > 1 ? [sets.row] : []), layerPlace, headPlace, panel.node, tokens.fold);

  // Sets differ in their layers, and layers in their heads: what chooses among them is made anew where they do.
  let layers = null, heads = null, shown = null;
  function control(set, layer) {
    const depth = data.sets[set].heads.length, count = data.sets[set].heads[layer];
    if (layers?.depth !== depth) {
      const said = (place) => `${place} of 0–${depth - 1}`;
      layers = { depth, ...slider("layer", depth - 1, said, (place) => put(model, "layer", place)) };
      layerPlace.replaceChildren(...(depth > 1 ? [layers.row] : []));
    }
    if (heads?.buttons.length !== count) {
      heads = choices("head", Array.from({ length: count }, (_, i) => `${i}`), (i) => put(model, "head", i));
      headPlace.replaceChildren(...(count > 1 ? [heads.row] : []));
    }
  }

  const unfollow = follow(model, TRAITS, root, () => {
    const set = Math.min(model.get("set_number"), data.sets.length - 1), of = data.sets[set].heads;
    const layer = Math.min(model.get("layer"), of.length - 1), head = Math.min(model.get("head"), of[layer] - 1);
    if (shown !== set) tokens.draw(shown = set);
    control(set, layer);
    sets.mark(set);
    scale.mark(model.get("own_scale"));
    layers.mark(layer);
    heads.mark(head);
    panel.draw({ set, layer, head });
  });
  return () => { unfollow(); panel.close(); source.close(); };
}

export default { render };
