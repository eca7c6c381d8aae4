from recorder.wire.lines import COUNTED_TAGS, LineReader
from recorder.wire.prompts import LONE_PROMPT, PromptStripper, strip_prompts

__all__ = ["COUNTED_TAGS", "LONE_PROMPT", "LineReader", "PromptStripper", "strip_prompts"]
