"""What a screen reader gets of a page: landmarks, headings, labels, tables, links."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "input", "br", "img"}


@dataclass
class Outline(HTMLParser):
    """The parts of a page that matter for orientation."""

    html: str
    tags: list = field(default_factory=list)
    ids: list = field(default_factory=list)
    headings: list = field(default_factory=list)
    inputs: list = field(default_factory=list)
    labels: set = field(default_factory=set)
    links: list = field(default_factory=list)
    buttons: list = field(default_factory=list)
    landmarks: list = field(default_factory=list)
    header_cells: list = field(default_factory=list)
    picture_tags: list = field(default_factory=list)
    labelled_by: list = field(default_factory=list)
    attributes: list = field(default_factory=list)
    text: str = ""
    title: str = ""
    lang: str = ""
    problems: list = field(default_factory=list)

    def __post_init__(self):
        super().__init__(convert_charrefs=True)
        self._open = []
        self._picture = None
        self._texts = []
        self.feed(self.html)
        self.close()
        if self._open:
            self.problems.append(f"left open: {self._open}")

    def handle_starttag(self, tag, attrs):
        values = {name: value or "" for name, value in attrs}
        if tag == "svg" and values.get("role") == "img" and values.get("aria-label"):
            self._picture = len(self._open)  # a picture of ours, with its name
        (self.tags if self._picture is None else self.picture_tags).append(tag)
        self.attributes += attrs
        if "id" in values:
            self.ids.append(values["id"])
        if "aria-labelledby" in values:
            self.labelled_by.append(values["aria-labelledby"])
        if tag == "html":
            self.lang = values.get("lang", "")
        elif tag in ("input", "select", "textarea") and values.get("type") != "hidden":
            self.inputs.append(values.get("id", ""))
        elif tag == "label":
            self.labels.add(values.get("for", ""))
        elif tag in ("main", "header", "footer", "nav"):
            self.landmarks.append((tag, values.get("aria-label", "")))
        elif tag == "th":
            self.header_cells.append(values.get("scope", ""))
        if tag not in VOID:
            self._open.append(tag)
            self._texts.append("")

    def handle_endtag(self, tag):
        if not self._open or self._open[-1] != tag:
            self.problems.append(f"</{tag}> closes {self._open[-1:]}")
            return
        self._open.pop()
        text = self._texts.pop()
        if tag in ("h1", "h2", "h3", "h4"):
            self.headings.append((int(tag[1]), text.strip()))
        elif tag == "a":
            self.links.append(text.strip())
        elif tag == "button":
            self.buttons.append(text.strip())
        elif tag == "title" and self._picture is None:
            self.title = text.strip()
        if self._picture == len(self._open):
            self._picture = None
        if self._texts:
            self._texts[-1] += text

    def handle_data(self, data):
        self.text += data
        if self._texts:
            self._texts[-1] += data
