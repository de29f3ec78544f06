"""One self-contained HTML file: nothing is loaded from elsewhere, nothing runs, everything is escaped.

Source: interface, Flags (`--format html`); style 11.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup, escape

from policyd.findings import Finding, Report, Severity, visible
from policyd.report.as_text import summary
from policyd.report.snippet import Lines, snippet

_STYLE = """
:root { color-scheme: light dark; --line: #8886; --error: #b3261e; --warning: #8a5300; --info: #345; }
@media (prefers-color-scheme: dark) { :root { --error: #ff8a80; --warning: #ffca7a; --info: #acd; } }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 70rem; padding: 1.5rem; }
code, pre { font-family: ui-monospace, monospace; font-size: .92em; overflow-wrap: anywhere; }
pre { border-left: .25rem solid var(--line); margin: .5rem 0; overflow-x: auto; padding: .25rem .75rem; }
table { border-collapse: collapse; margin: 1rem 0; width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: .35rem .75rem .35rem 0; text-align: left; vertical-align: top; }
article { border-top: 1px solid var(--line); padding: .75rem 0; }
.error { color: var(--error); } .warning { color: var(--warning); } .info { color: var(--info); }
h3 { font-size: 1rem; margin: .25rem 0; }
caption { font-weight: 600; padding: .25rem 0; text-align: left; }
td ol, td ul { margin: 0; padding-left: 1.25rem; }
@media print {
  body { font-size: .8rem; max-width: none; padding: 0; }
  nav { display: none; }
  tr, article { break-inside: avoid; }
  h2, h3, caption { break-after: avoid; }
}
"""

_TITLES = {Severity.ERROR: "Errors", Severity.WARNING: "Warnings", Severity.INFO: "Remarks"}


def report_html(report: Report, lines: Lines, title: str, about: Sequence[tuple[str, str]] = ()) -> str:
    """All findings by severity, what was not analysed, and the facts `about` the run as a table."""
    return html_page(title, [_facts(about), *findings_html(report, lines)])


def html_page(title: str, parts: Iterable[Markup]) -> str:
    """A whole document around `parts`."""
    head = Markup(
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        "<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<main>\n<h1>{0}</h1>\n"
    ).format(visible(title), Markup(_STYLE))
    return str(head + Markup("\n").join(parts) + Markup("\n</main>\n</body>\n</html>\n"))


def findings_html(report: Report, lines: Lines) -> list[Markup]:
    """The sections of the findings."""
    out = [Markup("<p><strong>{}</strong></p>").format(summary(report))]
    for severity, words in _TITLES.items():
        found = [f for f in report.findings if f.severity is severity]
        if found:
            articles = Markup("\n").join(_article(finding, lines) for finding in found)
            out.append(Markup("<section><h2>{} ({})</h2>\n{}</section>").format(words, len(found), articles))
    if report.not_analysed:
        items = Markup("").join(Markup("<li>{}</li>").format(sentence(text)) for text in report.not_analysed)
        out.append(Markup("<section><h2>Not analysed</h2><ul>{}</ul></section>").format(items))
    return out


def table_html(caption: str, head: Sequence[str], rows: Iterable[Sequence[str | Markup]]) -> Markup:
    """A table with a caption; texts are escaped, markup stays."""
    titles = Markup("").join(Markup('<th scope="col">{}</th>').format(text) for text in head)
    body = Markup("\n").join(
        Markup("<tr>{}</tr>").format(Markup("").join(Markup("<td>{}</td>").format(_cell(cell)) for cell in row))
        for row in rows
    )
    frame = "<table><caption>{}</caption><thead><tr>{}</tr></thead>\n<tbody>{}</tbody></table>"
    return Markup(frame).format(visible(caption), titles, body)


def sentence(text: str) -> Markup:
    """A sentence of ours with what stands in backticks as code.

    >>> str(sentence("a `<b>` c"))
    'a <code>&lt;b&gt;</code> c'
    """
    parts = visible(text).split("`")
    if len(parts) % 2 == 0:
        return escape(visible(text))
    marked = (Markup("<code>{}</code>").format(part) if i % 2 else escape(part) for i, part in enumerate(parts))
    return Markup("").join(marked)


def _cell(cell: str | Markup) -> str | Markup:
    return cell if isinstance(cell, Markup) else visible(cell)


def _facts(about: Sequence[tuple[str, str]]) -> Markup:
    if not about:
        return Markup("")
    rows = Markup("\n").join(
        Markup('<tr><th scope="row">{}</th><td>{}</td></tr>').format(name, visible(value)) for name, value in about
    )
    return Markup("<table><tbody>{}</tbody></table>").format(rows)


def _article(finding: Finding, lines: Lines) -> Markup:
    parts = [
        Markup('<h3 class="{}">{} <code>{}</code>: {}</h3>').format(
            finding.severity.value, finding.severity.value, finding.code, sentence(finding.message)
        )
    ]
    if finding.span is not None:
        path = Markup(" <code>{}</code>").format(visible(finding.span.path)) if finding.span.path else ""
        parts.append(Markup("<p>{}{}</p>").format(visible(finding.span.where), path))
        parts += _source(snippet(finding.span, lines))
    for related in finding.related:
        parts.append(Markup("<p>{}: {}</p>").format(sentence(related.message), visible(related.span.where)))
        parts += _source(snippet(related.span, lines))
    if finding.witness:
        parts.append(Markup("<p>For example: <code>{}</code></p>").format(visible(finding.witness)))
    if finding.help:
        parts.append(Markup("<p>{}</p>").format(sentence(finding.help)))
    if finding.confidence.value != "certain":
        parts.append(Markup("<p>Confidence: {}</p>").format(finding.confidence.value))
    return Markup("<article>{}</article>").format(Markup("\n").join(parts))


def _source(lines: Sequence[str]) -> list[Markup]:
    if not lines:
        return []
    return [Markup("<pre>{}</pre>").format("\n".join(visible(line) for line in lines))]
