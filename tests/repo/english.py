"""What the tests of plain English share: the measure, its limits, and the control text that is over each of them."""

import re

RELATIVES = re.compile(r"\b(which|that|what|who|whose|whom|where|whoever|whatever)\b", re.IGNORECASE)
OPENERS = re.compile(r"^(What|Who|Whoever|Whose|Whether|Where|Of|That|Those|None|Nor|So does|So is|So are|Beside|Else|Nobody)\b")
WORDS = {  # words of a kind, and the most of them in 1,000 words
    "where": (r"\bwhere\b", 2.5),
    "ones, others, those": (r"\b(ones|others|those|that of|(?:the|that|this|each|another|every|such) one)\b", 5),
    "told, named, who": (r"\b(told|tells?|(?:is|are|was|were|be) (?:said|named)|who|whom)\b", 3),
}
RELATIVES_MAX, OPENERS_MAX, LONG_MAX = 6.0, 2.0, 11.0  # per cent of sentences, of sentences, of paragraphs
LONG_WORDS = 80
SENTENCES_LEAST = 8  # a shorter page is not judged
CONTROL = ("Where the target has what the source lacks, it is named as what was left, which is told to whoever asked for those. "
           "Of several that differ, the one that comes first is what is taken where none is said. ") * 8
PLAIN = ("The agent copies the file to the target. It checks every byte before it renames the file. "
         "If the disk is full, the command stops and keeps the old file.\n\n") * 8


def prose(text):
    """Paragraphs, list items and cells of tables; code becomes one word."""
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    lines = []
    for line in text.split("\n"):
        if line.startswith(("    ", "\t", "#", "![")) or re.match(r"^\s*\|[\s:|-]+\|?\s*$", line):
            lines.append("")
        elif line.lstrip().startswith("|"):
            lines += ["", *[cell + "\n" for cell in re.split(r"(?<!\\)\|", line) if len(cell.split()) > 3], ""]
        else:
            lines.append(re.sub(r"^\s*([-*+]|\d+\.) ", "\n", line))
    return re.sub(r"`[^`]*`", "X", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", "\n".join(lines)))


def sentences_of(text):
    sentences = []
    for paragraph in re.split(r"\n\s*\n", text):
        parts = re.split(r"(?<=[.:!?;])\s+(?=[A-Z`\"(]|X\b)", " ".join(paragraph.split()))
        sentences += [part.strip() for part in parts if len(part.split()) > 3]
    return sentences


def faults(text):
    """The limits that the text exceeds. None for a text that is too short to judge."""
    sentences = sentences_of(text)
    if len(sentences) < SENTENCES_LEAST:
        return None
    paragraphs = [len(part.split()) for part in re.split(r"\n\s*\n", text) if len(part.split()) > 3]
    figures = [
        ("sentences with two relative words", 100 * sum(len(RELATIVES.findall(s)) >= 2 for s in sentences) / len(sentences), RELATIVES_MAX),
        ("sentences that begin as a riddle", 100 * sum(bool(OPENERS.match(s)) for s in sentences) / len(sentences), OPENERS_MAX),
        ("long paragraphs", 100 * sum(words > LONG_WORDS for words in paragraphs) / max(1, len(paragraphs)), LONG_MAX)]
    words = max(1, len(text.split()))
    figures += [(kind, 1000 * len(re.findall(pattern, text, re.IGNORECASE)) / words, most) for kind, (pattern, most) in WORDS.items()]
    return [f"{kind}: {figure:.1f}, at most {most:g}" for kind, figure, most in figures if figure > most]
