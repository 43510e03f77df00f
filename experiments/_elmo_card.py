"""The card of the ELMo that the repository carries: what it is, how good, and what it cannot do."""

from __future__ import annotations

import math
from typing import Any

ORIGINAL_PARAMETERS, ORIGINAL_WORDS = 93.6e6, 800e6  # Peters et al. 2018, sec. 3.4; a billion words, by words

CARD = """\
# elmo-mini: a small ELMo that spells its words

An ELMo of {parameters:,} parameters: a character CNN ({n_filters} filters), {n_highway} highway layer,
{n_layers} layers of LSTMs in each direction (states of {d_model}, memories of {d_memory}), one softmax over
{vocab_size:,} words for both directions. It was pre-trained for notebook 13, to be looked into and to give
features in a lesson. It is a teaching aid.

```python
from bertlab.interop import load_elmo

model, words = load_elmo("elmo-mini")  # an ELMoForPreTraining, and the words that it can predict
```

It reads any word: `bertlab.tasks.spelled_words.spelled_states(model.elmo, sentences)` gives each word its
three vectors. Weights are in float16; `load_elmo` makes float32 of them. The format is our own.

## Data and licences

Read were {text[tokens]:,} words and marks of
- `books`, classic novels in the public domain, without the three that are held out (below);
- `wikisplit`, sentences of Wikipedia, by its authors, CC BY-SA 4.0;
- `masc`, written and spoken American English, free for any use.

`bertlab.datasets` brings them, with addresses and checksums. What stands in the held-out text, too (a
sentence that shares eight words in a row with it), was taken out. The weights are ours; they stand under
CC BY-SA 4.0, as a part of their text does.

## Training

`make results-elmo_mini` makes these files again, with all that is measured here: {steps:,} steps of
{batch_size} stretches of up to {max_length} words, {read:.1f} million in all, {epochs:.1f} passes over the
text. AdamW, a peak rate of {rate}, {warmup:.0f} steps of warm-up, linear decay, no dropout, a sampled
softmax, seed {seed}. Asked for are the {vocab_size:,} most frequent words, in small letters; {unknown:.1f} %
of the running words are rarer: they are read, but not asked for. It took {hours} hours of one CPU core.

| words read (million) | forward loss (nats) | backward loss (nats) |
| --- | --- | --- |
{curve}

These are of some held-out stretches of books, among all words. The whole curve is in
`data/results/elmo_mini.json`.

## Scores, on text that was held out

Three whole books by authors that are not in the training text, and wikitext-2 (validation and test part).
"Both": the two directions glued together by Bayes' rule. Only known words are asked for: in {sets[0]}
{unasked[0]:.1f} % of the words are not, in {sets[1]} {unasked[1]:.1f} %.
Perplexity is the exponential of the mean surprise; "± " is the half of a 95 % interval.

| | {sets[0]}: perplexity | right | {sets[1]}: perplexity | right |
| --- | --- | --- | --- | --- |
{scores}

{finding}

## Limits

- It has {of_original:.0f} % of the original's parameters (93.6 million, without its softmax), and read here
  about {of_text:.1f} % as many words (0.8 billion, ten times over).
- Old novels are most of the text: their language, and their views of people, are in it.
- Stretches begin without a memory: nothing farther than {max_length} words away was ever of use.
"""


def card(found: dict[str, Any]) -> str:
    """Write the card out of the record of `elmo_mini`."""
    config, sizes, held_out = found["config"], found["sizes"], found["held_out"]
    read, tokens = found["curve"][-1]["tokens"], found["text"]["tokens"]
    sets = list(held_out)
    names = {
        "untrained": "the same sizes, new weights",
        "counting": "counted n-grams",
        "elmo": "**elmo-mini**",
    }
    rows = [
        f"| {told}, {direction} | " + " | ".join(_two(held_out[one][name][direction]) for one in sets) + " |"
        for name, told in names.items()
        for direction in ("forward", "backward", "both")
        if (name, direction) != ("untrained", "both")  # two who know nothing have nothing to glue
    ]
    without_softmax = sum(n for part, n in found["parts"].items() if part != "softmax")
    return CARD.format(
        **{**config, **sizes},
        parameters=found["parameters"],
        n_filters=sum(n for _, n in sizes["filters"]),
        text=found["text"],
        hours=found["hours"],
        read=read / 1e6,
        epochs=read / tokens,
        unknown=100 * found["text"]["unknown"],
        unasked=[100 * held_out[one]["unknown"] for one in sets],
        curve="\n".join(_curve(found["curve"])),
        sets=sets,
        scores="\n".join(rows),
        finding=_finding(held_out),
        of_original=100 * without_softmax / ORIGINAL_PARAMETERS,
        of_text=100 * tokens / ORIGINAL_WORDS,
    )


def _curve(rows: list[dict[str, float]], lines: int = 8) -> list[str]:
    chosen = {round((i + 1) * len(rows) / lines) - 1 for i in range(lines)}
    return [
        f"| {row['tokens'] / 1e6:.1f} | {row['forward']:.2f} | {row['backward']:.2f} |"
        for i, row in enumerate(rows)
        if i in chosen
    ]


def _two(measured: dict[str, Any]) -> str:
    low, high = measured["accuracy_interval"]
    right = f"{100 * measured['accuracy']:.1f} ± {50 * (high - low):.1f} %"
    return f"{math.exp(measured['loss']):.0f} | {right}"


def _finding(held_out: dict[str, Any]) -> str:
    """Say where it beats counting: only where the interval of the difference leaves out zero."""
    told = []
    for name, found in held_out.items():
        for direction, row in found["elmo minus counting"].items():
            low, high = row["loss_interval"]
            if high < 0:
                verdict = "it is surprised less than the n-grams"
            elif low > 0:
                verdict = "**it is surprised more than the n-grams**"
            else:
                verdict = "it and the n-grams cannot be told apart"
            told.append(f"In {name}, {direction}: {verdict} ({low:+.2f} to {high:+.2f} nats).")
    return "\n".join(told)
