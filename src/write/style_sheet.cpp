#include "write/style_sheet.hpp"

namespace onehead {

// Blue for more, orange for less than 0; white (or black, on a dark screen) in the middle. Blue ends darker
// than orange, so that the two are told apart on grey paper too.
std::string_view shades_style() {
    return R"(:root {
  --page: #ffffff; --ink: #1a1d21; --quiet: #5b636d; --line: #d5dae0; --mark: #fff3c4; --link: #0b57a4;
  --p0: #f4f8fc; --p1: #dfebf7; --p2: #c8dcf0; --p3: #a8cbe8; --p4: #82b3dc; --p5: #5b98cc; --p6: #397cb9;
  --p7: #1f5f9f; --p8: #0c3f78;
  --n4: #d95f02; --n3: #f08c3a; --n2: #fab776; --n1: #fddfc0; --z: #f7f7f7;
  --u1: #d3e2f2; --u2: #92bbdf; --u3: #4a86c0; --u4: #0c3f78; --m: #e3e5e8; --light: #ffffff;
}
@media screen and (prefers-color-scheme: dark) { :root {
  --page: #14171b; --ink: #e6e9ed; --quiet: #9aa4b0; --line: #333a43; --mark: #4a3f12; --link: #7db8f0;
  --p0: #1a2027; --p1: #1d2d3f; --p2: #1f3c59; --p3: #235077; --p4: #2d6798; --p5: #4083b8; --p6: #62a2d2;
  --p7: #91c3e8; --p8: #cfe6fa;
  --n4: #ffb066; --n3: #d9822f; --n2: #99581f; --n1: #4d311a; --z: #20252b;
  --u1: #1f354d; --u2: #2b5c8a; --u3: #5496cb; --u4: #b9dbf7; --m: #2b3037; --light: #14171b;
} }
.p0 { --c: var(--p0) } .p1 { --c: var(--p1) } .p2 { --c: var(--p2) } .p3 { --c: var(--p3) } .p4 { --c: var(--p4) }
.p5 { --c: var(--p5); --t: var(--light) } .p6 { --c: var(--p6); --t: var(--light) }
.p7 { --c: var(--p7); --t: var(--light) } .p8 { --c: var(--p8); --t: var(--light) }
.n4 { --c: var(--n4); --t: var(--light) } .n3 { --c: var(--n3) } .n2 { --c: var(--n2) } .n1 { --c: var(--n1) }
.z { --c: var(--z) } .u1 { --c: var(--u1) } .u2 { --c: var(--u2) } .u3 { --c: var(--u3); --t: var(--light) }
.u4 { --c: var(--u4); --t: var(--light) } .m { --c: var(--m) }
path { stroke: var(--c); fill: none } rect { fill: var(--c) }
text { font: 12px ui-monospace, "DejaVu Sans Mono", monospace; fill: var(--ink); direction: ltr;
  unicode-bidi: isolate; white-space: pre }
text.value { font-size: 11px; fill: var(--t, var(--ink)); pointer-events: none }
text.quiet { fill: var(--quiet) }
text.asks { font-weight: bold }
rect.frame { fill: none; stroke: var(--ink); stroke-width: 1.5; pointer-events: none }
)";
}

std::string_view page_style() {
    return R"(* { box-sizing: border-box; print-color-adjust: exact; -webkit-print-color-adjust: exact }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.55 system-ui, "Noto Sans", sans-serif }
main { max-width: 100rem; margin: 0 auto; padding: 1rem 1.25rem 4rem }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 1rem 0 } h2 { font-size: 1.35rem; margin: 3rem 0 .5rem }
h3 { font-size: 1.05rem; margin: 2rem 0 .25rem }
p, dl, ul, ol { max-width: 46rem }
a { color: var(--link) } a:focus-visible, [tabindex]:focus-visible { outline: 3px solid var(--link); outline-offset: 2px }
code, .label, .formula { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .92em; white-space: pre-wrap }
.label { white-space: pre }
.quiet { color: var(--quiet); font-size: .92em }
.sentence { font-size: 1.25rem; line-height: 2.1; max-width: 60rem }
.sentence span { background: var(--c); color: var(--t, var(--ink)); padding: .15em .1em; border-radius: 3px; white-space: pre-wrap; overflow-wrap: anywhere }
.sentence .asks { outline: 2px solid var(--ink) }
.sentence .later { color: var(--quiet) }
dl.facts { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem } dl.facts dd { margin: 0; overflow-wrap: anywhere }
dl.facts dt { color: var(--quiet) }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1rem; padding: 0; list-style: none }
figure { margin: .75rem 0; overflow-x: auto } figcaption { color: var(--quiet); font-size: .92em; max-width: 46rem }
svg { display: block }
.pair { display: flex; flex-wrap: wrap; gap: 2rem } .pair > section { min-width: 0 }
table { border-collapse: collapse; font-variant-numeric: tabular-nums } caption { text-align: left; color: var(--quiet); font-size: .92em; padding-bottom: .4rem }
td { background: var(--c); color: var(--t, var(--ink)) }
th, td { padding: .3rem .5rem; text-align: right; font-weight: normal; white-space: nowrap }
th[scope=row], td.text, th.text { text-align: left } table.grid td { border: 1px solid var(--page); min-width: 2.9rem; padding: .3rem .35rem } table.grid th[scope=col] { padding: .3rem .2rem }
table.grid tr.asks td { border-block: 2px solid var(--ink) }
table.lines td, table.lines th { border-bottom: 1px solid var(--line) } tr.asks th, tr.asks td { font-weight: bold }
td.moved { background: var(--u2); color: var(--ink) } td.broken { background: var(--n4); color: var(--light); font-weight: bold }
td.new { background: var(--m) } td.kept { color: var(--quiet) }
@media (max-width: 30rem) { body { font-size: 15px } h1 { font-size: 1.35rem } .sentence { font-size: 1.1rem } main { padding: .5rem .75rem 3rem } }
@media print { body { font-size: 10.5pt } h2, h3 { break-after: avoid } figure { overflow: visible; break-inside: avoid } svg { max-width: 100%; height: auto } nav { display: none } a { color: inherit; text-decoration: none } }
)";
}

}  // namespace onehead
