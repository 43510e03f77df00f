"""The card of the GPT that the repository carries: from what it is, how good, what it cannot."""

from __future__ import annotations

from typing import Any

GPT1_PARAMETERS = 116.5e6  # Radford et al. 2018, section 4.1, counted: `GPTConfig.gpt1().n_parameters`

CARD = """\
# gpt-mini: a small GPT-1 that began with nothing

A GPT of {parameters:,} parameters ({n_layers} layers of {d_model}, {n_heads} heads, {vocab_size:,} pieces;
post-LN, learned positions, GELU, tied output), pre-trained to say what comes next for notebook 14 and after,
to be looked into, to write, and to be fine-tuned in a lesson. It is a teaching aid: all it knows, it has read
in these {million:.1f} million pieces.

```python
from bertlab.interop import load_gpt

model, tokenizer = load_gpt("gpt-mini")  # a GPT, and a WordPiece tokenizer
```

The files are in Hugging Face's format "openai-gpt":
`transformers.AutoModelForCausalLM.from_pretrained("data/checkpoints/gpt-mini")` reads them, too. Begin a text
with [CLS], as all that it has read began; it ends its texts by [SEP]. Weights are in float16; `load_gpt`
makes float32 of them.

## Data and licences

Read were {text[tokens]:,} pieces of
- `books`, classic novels in the public domain, without the three that are held out (below);
- `wikisplit`, sentences of Wikipedia, by its authors, CC BY-SA 4.0;
- `masc`, written and spoken American English, free for any use.

`bertlab.datasets` brings them, with addresses and checksums. What stands in the held-out text, too (a
sentence that shares eight words in a row with it), was taken out. The vocabulary is bert-mini's.
The weights are ours; they stand under CC BY-SA 4.0, as a part of their text does.

## Training

`make results-gpt_mini` makes these files again, with all that is measured here, from
`experiments/gpt_mini.toml`: {steps:,} steps of {batch_size} stretches of up to {max_length} pieces,
{read:.1f} million pieces in all, {epochs:.1f} passes over the text. AdamW, a peak rate of {rate},
{warmup:.0f} steps of warm-up, linear decay, no dropout, bfloat16 arithmetic with weights in float32,
seed {seed}. It took {minutes:.0f} minutes of one CPU core.

| pieces read (million) | loss (nats a piece) |
| --- | --- |
{curve}

These are means over the training batches of the last {every} steps before.

## Scores, on text that was held out

Three whole books by authors that are not in the training text, and wikitext-2 (validation and test part):
whole chapters and articles, about {asked:,} pieces of each. Bits a piece, with 95 % intervals over documents.

| | {sets} |
| --- |{lines}
{scores}

Grammar, six kinds of minimal pairs of BLiMP, a thousand each: {grammar}. Chance is 50 %.

## Limits

- It has {of_gpt1:.0f} % of GPT-1's parameters, and read a small shelf of books. It knows few facts, and
  what it writes holds together for a few words, rarely for sentences.
- Old novels are most of the text: their language, and their views of people, are in it.
- It was never told what is true, kind or safe to say. Put its texts before nobody as answers.
- It reads and writes at most {max_positions} pieces; all text is lower-cased.
"""


def card(record: dict[str, Any]) -> str:
    """Write the card out of the record of `gpt_mini`."""
    made, sets = record["pretraining"], record["surprise"]["sets"]
    read, tokens = made["curve"][-1]["tokens"], made["text"]["tokens"]
    models = list(next(iter(sets.values()))["models"])
    shown = ["n-grams of 4", "n-grams with a memory", "gpt-mini", "half gpt, half n-grams"]
    judged = record["grammar"]["models"]
    return CARD.format(
        **{**made["config"], **made["sizes"]},
        parameters=made["parameters"],
        million=tokens / 1e6,
        text=made["text"],
        read=read / 1e6,
        epochs=read / tokens,
        minutes=made["minutes"],
        curve="\n".join(_curve(made["curve"])),
        every=made["config"]["report_every"],
        asked=round(min(one["pieces"] for one in sets.values()), -3),
        sets=" | ".join(sets),
        lines=" --- |" * len(sets),
        scores="\n".join(
            f"| {name} | " + " | ".join(_bits(one["models"][name]) for one in sets.values()) + " |"
            for name in shown
            if name in models
        ),
        grammar=", ".join(f"{name} {100 * one['all']['accuracy']:.0f} %" for name, one in judged.items()),
        of_gpt1=100 * made["parameters"] / GPT1_PARAMETERS,
    )


def _curve(rows: list[dict[str, float]], lines: int = 8) -> list[str]:
    chosen = {round((i + 1) * len(rows) / lines) - 1 for i in range(lines)}
    return [
        f"| {row['tokens'] / 1e6:.1f} | {row['next_token']:.2f} |"
        for i, row in enumerate(rows)
        if i in chosen
    ]


def _bits(measured: dict[str, Any]) -> str:
    low, high = measured["interval"]
    return f"{measured['bits_per_piece']:.2f} ({low:.2f} to {high:.2f})"
