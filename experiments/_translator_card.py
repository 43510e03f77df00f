"""The card of the translator that the repository carries: what it is, from what, how good, what it cannot."""

from __future__ import annotations

from typing import Any

CARD = """\
# tatoeba_en_zh: short English sentences into Chinese

A Transformer of {parameters:,} parameters ({n_layers} + {n_layers} layers of {d_model}, {n_heads} heads),
trained for notebook 07 to be looked into. It is a teaching aid, not a translator to rely on.

```python
import torch

from bertlab.interop import load_transformer
from bertlab.nn import greedy_decode

model, tokenizer = load_transformer("tatoeba_en_zh")
source = torch.tensor([[*tokenizer.encode("Where is my plate?").ids, model.config.end_id]])
ids, _ = greedy_decode(model, source, max_length=60)
print(tokenizer.decode(ids[0].tolist()))
```

## Files

| file | what |
| --- | --- |
| `model.safetensors` | the weights in float16; `load_transformer` makes float32 of them |
| `config.json` | the sizes, those of `bertlab.nn.TransformerConfig` |
| `tokenizer.json` | byte-level BPE for both languages, {pieces:,} pieces; no piece spans two Chinese signs |

## Data, licence, attribution

Trained on {train_pairs:,} English-Chinese pairs of [Tatoeba](https://tatoeba.org), as
`bertlab.datasets.load("tatoeba-eng-cmn")` brings them. The sentences are the work of Tatoeba's contributors
and stand under [CC BY 2.0 FR](https://creativecommons.org/licenses/by/2.0/fr/); the third column of that set
says who wrote each of them. These files, made from the sentences, stand under the same licence: whoever
passes them on names the contributors of Tatoeba (tatoeba.org) and this course. The sentences were not
changed; a random part of them was held out.

## Training

`make results-translation_tatoeba` makes these files again, with all that is measured here: {epochs} epochs,
{steps:,} steps, batches of about {tokens:,} tokens, AdamW, a peak rate of {peak}, dropout {dropout}, label
smoothing {smoothing}, bfloat16 arithmetic, seed {seed}; {minutes:.0f} minutes of one CPU core. All settings
are in `data/results/translation_tatoeba.json`.

## Scores

On {test_sentences:,} held-out sentences, each with all of its translations as references. No English and no
Chinese sentence of the test set stands in the training set; letters and digits alone are compared.

| | BLEU (Chinese signs) | chrF |
| --- | --- | --- |
| these files, float16, greedy | {shipped[bleu]:.1f} | {shipped[chrf]:.1f} |
| Transformer, beam of {beam}, {n_seeds} seeds | {transformer} | {transformer_chrf} |
| Seq2Seq with attention, same size, beam of {beam}, {n_seeds} seeds | {seq2seq} | {seq2seq_chrf} |
| the translation of the most similar training sentence | {memory[bleu]:.1f} | {memory[chrf]:.1f} |

BLEU: `{metrics[0]}`<br>
chrF: `{metrics[1]}`

## Limits

- Short everyday sentences (6 words on average), many of one pattern: Tom, Mary, school, weather. Test
  sentences are of the same patterns, so the scores say nothing of news, of speech, of long sentences.
- It always writes something fluent, and nowhere says that it guesses: names, numbers and rare words are
  often wrong.
- Simplified signs only. Its sentences came from a few volunteers, with their choices and errors.
- A sentence of more than {max_length} pieces is refused.
"""


def card(results: dict[str, Any], seed: int) -> str:
    """Write the card from the record of the experiment."""
    arms: list[dict[str, Any]] = results["arms"]
    (own,) = (arm for arm in arms if (arm["model"], arm["seed"]) == ("transformer", seed))
    settings = results["settings"]
    kinds = {kind: [arm["beam"] for arm in arms if arm["model"] == kind] for kind in settings["configs"]}
    return CARD.format(
        **results["data"],
        **settings["recipe"],
        **settings["configs"]["transformer"],
        **{name: own[name] for name in ("parameters", "steps")},
        **{name: span([arm["bleu"] for arm in found]) for name, found in kinds.items()},
        **{f"{name}_chrf": span([arm["chrf"] for arm in found]) for name, found in kinds.items()},
        **{name: settings[name] for name in ("pieces", "smoothing", "beam")},
        metrics=results["metrics"],
        shipped=results["checkpoint"],
        memory=results["most_similar_training_sentence"],
        minutes=own["training_core_minutes"],
        n_seeds=len(kinds["transformer"]),
        seed=seed,
    )


def span(values: list[float]) -> str:
    """Give the smallest and the largest of some scores."""
    return f"{min(values):.1f} to {max(values):.1f}"
