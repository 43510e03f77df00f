"""The cards of the two BERTs that the repository carries: from what they are, how good, what they cannot."""

from __future__ import annotations

from typing import Any

BASE_PARAMETERS, BASE_WORDS = 110e6, 3.3e9  # Devlin et al. 2019, section 3: of BERT-base, and of its text

CARD = """\
# {name}: {title}

A BERT of {parameters:,} parameters ({n_layers} layers of {d_model}, {n_heads} heads, {vocab_size:,} pieces),
pre-trained with masked words and next sentences for notebooks 09 and after, to be looked into and to be
fine-tuned in a lesson. It is a teaching aid: {beginning}

```python
from bertlab.interop import load_bert

model, tokenizer = load_bert("{name}", recognise_special=True)  # a BertForPreTraining
```

The files are in Hugging Face's format: `transformers.AutoModel.from_pretrained("data/checkpoints/{name}")`
reads them, too. Weights are in float16; `load_bert` makes float32 of them.

## Data and licences

Read were {text[tokens]:,} pieces of
- `books`, classic novels in the public domain, without the three that are held out (below);
- `wikisplit`, sentences of Wikipedia, by its authors, CC BY-SA 4.0;
- `masc`, written and spoken American English, free for any use.

`bertlab.datasets` brings them, with addresses and checksums. What stands in the held-out text, too (a
sentence that shares eight words in a row with it), was taken out.
{licence}

## Training

`make results-bert_checkpoints` makes these files again, with all that is measured here, from
`experiments/{config}`: {steps:,} steps of {batch_size} pairs of up to {max_length} pieces,
{read:.0f} million pieces in all, {epochs:.1f} passes over the text. AdamW, a peak rate of {rate},
{warmup:.0f} steps of warm-up, linear decay, no dropout, bfloat16 arithmetic with weights in
float32, seed {seed}.
{start}
It took {hours} hours of one CPU core, beside other work.

| pieces read (million) | masked-LM loss (nats) | next-sentence loss (nats; guessing: 0.693) |
| --- | --- | --- |
{curve}

These are means over the training batches since the line above. The whole curve is in
`data/results/bert_checkpoints.json`.

## Scores, on text that was held out

Three whole books by authors that are not in the training text, and wikitext-2 (validation and test part):
1,024 pairs of each, half of them true. 15 % of the pieces are asked for, all of them hidden by [MASK].
"± " is the half of a 95 % interval.

| | {sets[0]}: loss | accuracy | top 5 | {sets[1]}: loss | accuracy | top 5 |
| --- | --- | --- | --- | --- | --- | --- |
{scores}

With the text masked as in training (80 % [MASK], 10 % another piece, 10 % the same) accuracy is
{as_trained[0]} in {sets[0]} and {as_trained[1]} in {sets[1]}; counting reaches {counted[0]} and {counted[1]}.

Next sentences, half true, half from another document: {judged[0]} right in {sets[0]},
{judged[1]} in {sets[1]}; guessing is 50 %.

## Where it is better than counting, and where not

{finding}

| | hidden pieces | counted n-grams | {name} | difference in points |
| --- | --- | --- | --- | --- |
{kinds}

"Frequent" are the hundred most frequent pieces of the training text. The difference is that of answers to
the same questions, with its 95 % interval.

## Limits

- It has {of_base:.0f} % of BERT-base's parameters (110 million), and read here about {of_text:.1f} % as many
  pieces of text as BERT did words (3.3 billion). It knows few facts.
- Old novels are most of the text: their language, and their views of people, are in it.
- Inputs of more than {max_length} pieces were never trained{positions}.
"""

ABOUT: dict[str, dict[str, str]] = {
    "bert-mini": {
        "title": "a small BERT that began with nothing",
        "beginning": "all it knows, it has read in these {tokens:.1f} million pieces.",
        "licence": "The weights are ours; they stand under CC BY-SA 4.0, as a part of their text does.",
        "start": "New weights, with heads of the first layer that begin by looking at their neighbours "
        "(`look_beside`); the architecture is BERT's.",
    },
    "bert-6l": {
        "title": "a BERT that began with all-MiniLM-L6-v2",
        "beginning": "most of what it knows, the model knew that it began with.",
        "licence": "The weights began as those of sentence-transformers/all-MiniLM-L6-v2 (Apache 2.0); what "
        "we added stands under CC BY-SA 4.0, as a part of its text does.",
        "start": "The embeddings and layers began as those of all-MiniLM-L6-v2, the heads new; of its 30,522 "
        "pieces those are kept that our text uses at least 20 times. Wikipedia and a billion pairs of "
        "sentences are among what that model was trained on: it may well have read the articles of "
        "wikitext-2.",
    },
}


def card(name: str, found: dict[str, Any], counted: dict[str, Any], kinds: dict[str, Any]) -> str:
    """Write the card of a checkpoint.

    Parameters
    ----------
    name : of the checkpoint.
    found : its part of the record of `bert_checkpoints`.
    counted : the guesses by counting in its vocabulary, from `masked_ngrams`.
    kinds : its part of the record of `blanks_by_kind`.
    """
    config, shipped = found["config"], found["shipped"]
    read, tokens = found["curve"][-1]["tokens"], found["text"]["tokens"]
    about = {key: value.format(tokens=tokens / 1e6) for key, value in ABOUT[name].items()}
    sets = list(shipped)
    rows = {
        "always the most frequent piece": [counted[one]["hidden"]["unigram"] for one in sets],
        "counted n-grams, both sides": [counted[one]["hidden"]["and repeated"] for one in sets],
        "the same sizes, new weights": [found["untrained"][one]["hidden"] for one in sets],
        f"**{name}**": [shipped[one]["hidden"] for one in sets],
    }
    fields = {**config, **found["sizes"], **about}
    return CARD.format(
        **{**fields, "name": name, "config": f"{name.replace('-', '_')}.toml"},
        parameters=found["parameters"],
        of_base=100 * found["parameters"] / BASE_PARAMETERS,
        of_text=100 * tokens / BASE_WORDS,
        text=found["text"],
        hours=found["hours"],
        read=read / 1e6,
        epochs=read / tokens,
        curve="\n".join(_curve(found["curve"])),
        sets=sets,
        scores="\n".join(
            f"| {what} | " + " | ".join(map(_three, both)) + " |" for what, both in rows.items()
        ),
        as_trained=[_share(shipped[one]["as trained"], "accuracy") for one in sets],
        counted=[_share(counted[one]["as trained"]["and repeated"], "accuracy") for one in sets],
        judged=[_share(shipped[one]["next_sentence"], "accuracy") for one in sets],
        finding=_finding(kinds),
        kinds="\n".join(
            f"| {one}, {kind} | {row['bert']['targets']:,} | {100 * row['counting']['accuracy']:.1f} % | "
            f"{100 * row['bert']['accuracy']:.1f} % | {_apart(row)} |"
            for one, rows in kinds.items()
            for kind, row in rows.items()
        ),
        positions="" if found["sizes"]["max_positions"] > config["max_length"] else ", and have no position",
    )


def _curve(rows: list[dict[str, float]], lines: int = 8) -> list[str]:
    chosen = {round((i + 1) * len(rows) / lines) - 1 for i in range(lines)}
    return [
        f"| {row['tokens'] / 1e6:.1f} | {row['masked_lm']:.2f} | {row['next_sentence']:.3f} |"
        for i, row in enumerate(rows)
        if i in chosen
    ]


def _three(measured: dict[str, Any]) -> str:
    return f"{measured['loss']:.2f} | {_share(measured, 'accuracy')} | {_share(measured, 'top5')}"


def _share(measured: dict[str, Any], name: str) -> str:
    low, high = measured[f"{name}_interval"]
    return f"{100 * measured[name]:.1f} ± {50 * (high - low):.1f} %"


def _apart(row: dict[str, Any]) -> str:
    low, high = (100 * bound for bound in row["bert minus counting"]["accuracy_interval"])
    return f"{low:+.1f} to {high:+.1f}"


def _finding(kinds: dict[str, Any]) -> str:
    """Say whether it beats counting: only where the interval of the difference leaves out zero."""
    told = []
    for one, rows in kinds.items():
        low, high = rows["all"]["bert minus counting"]["accuracy_interval"]
        if low > 0:
            told.append(f"In {one} it fills more blanks than the n-grams do.")
        elif high < 0:
            told.append(f"**In {one} it fills fewer blanks than the n-grams do.**")
        else:
            told.append(f"In {one} it and the n-grams cannot be told apart.")
    worse = {
        kind
        for rows in kinds.values()
        for kind, row in rows.items()
        if row["bert minus counting"]["accuracy_interval"][1] < 0 and kind != "all"
    }
    if worse:
        told.append(
            f"It is behind with {' and '.join(sorted(worse))}. Counting remembers every run of pieces that "
            "it has read, and a rare word is such a run."
        )
    return " ".join(told)
