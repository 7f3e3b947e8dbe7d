"""A model in a local folder as an endpoint: loaded by transformers from safetensors, one call at a time (L-1).

Nothing is downloaded and no code of the folder runs. The folder is known by a digest of its files, so other weights
under the same name are another system.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from basanite.errors import SettingError
from basanite.extras import required_module
from basanite.models.endpoint import Answer, RefusedCallError, StoppedRunError
from basanite.models.requests import Request
from basanite.models.system_file import CHAT, FOLDER, System
from basanite.representation.extraction.model_folder import import_torchvision

PIECE: Final = 1 << 20


def local_folder(system: System, system_file: Path) -> Path | None:
    """The folder that a system names, from the place of its file; None for an endpoint of another kind."""
    url = system.endpoint.url
    return (system_file.parent / url.removeprefix(FOLDER)).resolve() if url.startswith(FOLDER) else None


def with_content(system: System, folder: Path) -> System:
    """The system with the digest of its weights in place of their folder."""
    if not (folder / "config.json").is_file():
        raise SettingError(
            f"{folder} holds no model of transformers (there is no config.json). Fix: name the folder that "
            "save_pretrained wrote."
        )
    return replace(system, endpoint=replace(system.endpoint, url=f"{FOLDER}{_digest(folder)}", parallel=1))


def _digest(folder: Path) -> str:
    """A digest of all files of a folder, whatever it is called."""
    whole = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        own = hashlib.sha256()
        with path.open("rb") as file:
            while piece := file.read(PIECE):
                own.update(piece)
        whole.update(f"{path.relative_to(folder)}\0{own.hexdigest()}\n".encode())
    return whole.hexdigest()


class LocalModel:
    """A causal language model of transformers that answers requests of the interface."""

    def __init__(self, folder: Path, *, chat: bool) -> None:
        self.torch, transformers = required_module("torch"), required_module("transformers")
        if find_spec("torchvision") is not None:
            import_torchvision()  # transformers imports it where it is there, and it may need help
        known: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
        try:
            self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **known)
            self.model = transformers.AutoModelForCausalLM.from_pretrained(folder, use_safetensors=True, **known).eval()
        except Exception as error:  # what a damaged folder raises, its many readers decide
            why = str(error).strip().splitlines()[:1]
            raise SettingError(
                f"The model in {folder} cannot be loaded: {why[0] if why else type(error).__name__}. Fix: give the "
                "folder of a causal language model with its tokenizer, and weights as safetensors."
            ) from error
        if chat and not self.tokenizer.chat_template:
            raise SettingError(f'The tokenizer in {folder} has no chat template. Fix: write api = "completions".')

    async def ask(self, system: System, one: Request, headers: Mapping[str, str]) -> Answer:
        """The answer to a request, computed beside the loop that waits for it."""
        try:
            return await asyncio.to_thread(self.answer, system, one)
        except self.torch.OutOfMemoryError as error:
            raise StoppedRunError("the model needs more memory than there is. Fix: lower max_tokens") from error

    def answer(self, system: System, one: Request) -> Answer:
        """Generate one answer: greedy at temperature 0, and drawn by the seed of the request otherwise."""
        began, decoding, torch = time.monotonic(), system.decoding, self.torch
        ids = self._input(system, one)
        most = getattr(self.model.config, "max_position_embeddings", None)
        if most is not None and ids.shape[1] + decoding.max_tokens > most:
            raise RefusedCallError(f"prompt and answer can have {ids.shape[1] + decoding.max_tokens} tokens, of {most}")
        drawn: dict[str, Any] = {"do_sample": False}
        if decoding.temperature > 0:
            torch.manual_seed(one.body.get("seed", int(one.digest[:8], 16)))
            drawn = {"do_sample": True, "temperature": decoding.temperature, "top_p": decoding.top_p, "top_k": 0}
        pad = self.tokenizer.pad_token_id if self.tokenizer.pad_token_id is not None else self.tokenizer.eos_token_id
        with torch.inference_mode():
            made = self.model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=decoding.max_tokens,
                pad_token_id=pad if pad is not None else 0,
                **drawn,
            )
        new = made[0, ids.shape[1] :]
        text, stopped = _cut(self.tokenizer.decode(new, skip_special_tokens=True), decoding.stop)
        finish = "length" if len(new) >= decoding.max_tokens and not stopped else "stop"
        return Answer(text, finish, False, int(ids.shape[1]), len(new), time.monotonic() - began)

    def _input(self, system: System, one: Request) -> Any:
        if system.endpoint.api == CHAT:
            text = self.tokenizer.apply_chat_template(one.body["messages"], tokenize=False, add_generation_prompt=True)
            return self.tokenizer(text, return_tensors="pt", add_special_tokens=False).input_ids
        return self.tokenizer(one.body["prompt"], return_tensors="pt").input_ids


def _cut(text: str, stops: tuple[str, ...]) -> tuple[str, bool]:
    """The text before the first stop, and whether there was one.

    >>> _cut("yes.\\nNext", ("\\n",)), _cut("yes", ())
    (('yes.', True), ('yes', False))
    """
    found = [at for stop in stops if stop and (at := text.find(stop)) >= 0]
    return (text[: min(found)], True) if found else (text, False)
