"""Fine-tunes a model on film reviews with the Hugging Face ``Trainer``.

python3 train.py                          a tiny model with random weights, four epochs
python3 train.py learning_rate=0.001 num_train_epochs=8
python3 -m trainyard.launch.torch train.py              one process for each slot of the trial
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

try:
    import trainyard
except ModuleNotFoundError:
    # This script runs outside of a task, in a checkout without an installed SDK.
    sys.path.append(str(Path(__file__).resolve().parents[2] / "libs" / "sdk-python" / "src"))
    import trainyard

import transformers
from reviews import Review, generate
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from trainyard.transformers import Callback, training_arguments

# Default hyperparameters for a run without the platform; a trial gets its values from the search.
LOCAL_HPARAMS = {"learning_rate": 0.003, "num_train_epochs": 4, "reviews": 512}


def main(ctx: trainyard.Context) -> None:
    arguments = training_arguments(
        ctx,
        per_device_train_batch_size=16,
        per_device_eval_batch_size=64,
        logging_steps=8,
        eval_strategy="epoch",
        save_steps=16,
    )
    transformers.set_seed(arguments.seed)
    training, validation = split(generate(ctx.info.hparams["reviews"], seed=1895))
    model, tokenizer = model_of(ctx.info.hparams, [review.text for review in training])
    callback = Callback(ctx)
    trainer = transformers.Trainer(
        model=model,
        args=arguments,
        data_collator=transformers.DataCollatorWithPadding(tokenizer),
        train_dataset=encode(training, tokenizer),
        eval_dataset=encode(validation, tokenizer),
        compute_metrics=accuracy_of,
        callbacks=[callback],
    )
    callback.train(trainer)


def model_of(hparams: dict[str, Any], texts: list[str]) -> tuple[Any, Any]:
    """Loads the model that ``pretrained`` names. Without a name, builds a tiny model with random
    weights and a vocabulary of the texts' words.
    """
    name = hparams.get("pretrained")
    if name:
        model = transformers.AutoModelForSequenceClassification.from_pretrained(name, num_labels=2)
        return model, transformers.AutoTokenizer.from_pretrained(name)
    words = ["[PAD]", "[UNK]", *sorted({word for text in texts for word in text.split()})]
    vocabulary = Tokenizer(WordLevel({word: i for i, word in enumerate(words)}, "[UNK]"))
    vocabulary.pre_tokenizer = Whitespace()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=vocabulary, pad_token="[PAD]", unk_token="[UNK]"
    )
    config = transformers.BertConfig(
        vocab_size=len(words),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=32,
        num_labels=2,
    )
    return transformers.BertForSequenceClassification(config), tokenizer


def split(reviews: list[Review]) -> tuple[list[Review], list[Review]]:
    """Three quarters of the reviews are for training, one quarter is for validation."""
    boundary = len(reviews) * 3 // 4
    return reviews[:boundary], reviews[boundary:]


def encode(reviews: list[Review], tokenizer: Any) -> list[dict[str, Any]]:
    return [{**tokenizer(review.text), "labels": review.label} for review in reviews]


def accuracy_of(predicted: Any) -> dict[str, float]:
    chosen = predicted.predictions.argmax(axis=-1)
    return {"accuracy": float((chosen == predicted.label_ids).mean())}


def processes() -> Any:
    """Returns the launcher's process group, or None when the script runs as a single process."""
    launched = "RANK" in os.environ
    return trainyard.DistributedContext.from_torch_distributed() if launched else None


def local_hparams(arguments: list[str]) -> dict[str, Any]:
    """Returns LOCAL_HPARAMS, overridden by command-line arguments of the form name=value."""
    given = dict(argument.split("=", 1) for argument in arguments)
    return {**LOCAL_HPARAMS, **{name: json.loads(value) for name, value in given.items()}}


if __name__ == "__main__":
    hparams_here = local_hparams(sys.argv[1:])
    with trainyard.init(distributed=processes(), local_hparams=hparams_here) as context:
        main(context)
