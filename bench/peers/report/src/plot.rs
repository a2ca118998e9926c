//! Plots as SVG. Their colours are classes, which one style sheet defines for light and for dark
//! pages; so they are readable on both, inside a page and as files.

use svg::Document;
use svg::node::element::{Circle, Group, Line, Polyline, Rectangle, Style, Text, Title};

/// The colours and fonts of all plots.
pub const STYLE: &str = "
.plot{--paper:#ffffff;--ink:#1f2328;--dim:#57606a;--grid:#d8dee4;--ours:#cf4a0c;--ours2:#eb8f5e;--peer:#7f95ad;--far:#4d6178;--floor:#c3cad1;
--c0:#0969da;--c1:#1a7f37;--c2:#8250df;--c3:#9a6700;--c4:#0e8a8a;--c5:#bf3989;--c6:#57606a;--c7:#3b5bdb;--c8:#5c940d;--c9:#a05a2c;
font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;font-size:12px}
@media (prefers-color-scheme:dark){
.plot{--paper:#0d1117;--ink:#e6edf3;--dim:#9198a1;--grid:#2d343c;--ours:#ff8a4c;--ours2:#b8613a;--peer:#5f7893;--far:#a9bdd3;--floor:#484f58;
--c0:#58a6ff;--c1:#3fb950;--c2:#bc8cff;--c3:#d9a514;--c4:#39c5cf;--c5:#f778ba;--c6:#9198a1;--c7:#8da2fb;--c8:#a0c334;--c9:#d7975f}}
.plot text{fill:var(--ink);stroke:none}
.plot .paper{fill:var(--paper)}
.plot .head{font-size:14px;font-weight:600}
.plot .dim{fill:var(--dim);font-size:11px}
.plot .grid{stroke:var(--grid);stroke-width:1}
.plot .ours{fill:var(--ours)}.plot .ours2{fill:var(--ours2)}.plot .peer{fill:var(--peer)}.plot .floor{fill:var(--floor)}
.plot text.ours{font-weight:600}
.plot .far{stroke:var(--far);stroke-width:1.5;fill:none}
.plot polyline{fill:none;stroke-width:1.6}.plot .thick{stroke-width:3}.plot .lead{stroke-width:.8;opacity:.6}
";

/// Width of a plot, in units of its font size: a phone shows it at nearly this size.
const WIDTH: f64 = 440.0;

/// Start of the bars, and the room for the numbers behind them.
const NAMES: f64 = 168.0;
const NUMBERS: f64 = 64.0;

/// Distance of lines of text.
const ROW: f64 = 22.0;
const HEAD: f64 = 30.0;

/// Number of letters of a name that fit.
const LETTERS: usize = 25;

/// Number of colours of lines.
const COLOURS: usize = 10;

/// A bar.
pub struct Bar {
    /// Name of its system.
    pub name: String,
    /// Its kind.
    pub kind: BarKind,
    /// Its length.
    pub value: f64,
    /// The P90, if there is one: a mark.
    pub far: Option<f64>,
    /// Its length as text.
    pub text: String,
}

/// The kind of a bar.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum BarKind {
    /// Sinew, in the compared way.
    Ours,
    /// Sinew, used in another way.
    OursToo,
    /// A peer.
    Peer,
    /// A reference of the machine.
    Floor,
}

impl BarKind {
    fn class(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::OursToo => "ours2",
            Self::Peer => "peer",
            Self::Floor => "floor",
        }
    }
}

/// A line.
pub struct Series {
    /// Name of its system.
    pub name: String,
    /// Its colour; `None` is Sinew's, and thick.
    pub colour: Option<usize>,
    /// Its points.
    pub points: Vec<(f64, f64)>,
}

/// A drawn plot.
pub struct Drawing {
    group: Group,
    height: f64,
    title: String,
}

/// A scale: maps a range of values to lengths.
struct Scale {
    from: f64,
    to: f64,
    begin: f64,
    end: f64,
}

impl Scale {
    /// Makes a logarithmic scale with some room below and above.
    fn around(values: impl Iterator<Item = f64> + Clone, begin: f64, end: f64) -> Self {
        let least = values.clone().fold(f64::INFINITY, f64::min);
        let most = values.fold(0.0, f64::max);
        let (least, most) = if most > 0.0 { (least, most) } else { (1.0, 10.0) };
        // With less than half a decade, the axis would lack two numbers.
        let from = below(least / 1.3);
        Self { from, to: (most * 1.1).max(from * 4.0), begin, end }
    }

    fn of(&self, value: f64) -> f64 {
        let part = (value.max(self.from) / self.from).ln() / (self.to / self.from).ln();
        self.begin + part * (self.end - self.begin)
    }

    /// Returns round values, few enough to be distinguished.
    fn ticks(&self) -> Vec<f64> {
        let decades = (self.to / self.from).log10();
        let steps: &[f64] = match decades {
            decades if decades < 1.3 => &[1.0, 2.0, 5.0],
            decades if decades < 2.6 => &[1.0, 3.0],
            _ => &[1.0],
        };
        let every = if decades > 6.0 { 2 } else { 1 };
        let first = self.from.log10().floor();
        (0..12)
            .filter(|decade| decade % every == 0)
            .flat_map(|decade| steps.iter().map(move |step| step * 10_f64.powf(first + f64::from(decade))))
            .filter(|tick| *tick >= self.from * 0.999 && *tick <= self.to)
            .collect()
    }
}

/// Returns the greatest of 1, 2, 5 times a power of ten that isn't larger.
fn below(value: f64) -> f64 {
    let decade = 10_f64.powf(value.log10().floor());
    [5.0, 2.0].into_iter().map(|step| step * decade).find(|step| *step <= value).unwrap_or(decade)
}

fn text(x: f64, y: f64, class: &str, anchor: &str, words: &str) -> Text {
    Text::new(words).set("x", rounded(x)).set("y", rounded(y)).set("class", class).set("text-anchor", anchor)
}

fn line(from: (f64, f64), to: (f64, f64), class: &str) -> Line {
    Line::new()
        .set("x1", rounded(from.0))
        .set("y1", rounded(from.1))
        .set("x2", rounded(to.0))
        .set("y2", rounded(to.1))
        .set("class", class)
}

fn rounded(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

fn cut(name: &str) -> String {
    if name.chars().count() <= LETTERS {
        return name.to_owned();
    }
    name.chars().take(LETTERS - 1).chain(['…']).collect()
}

/// Draws a bar for each, from the top, on a logarithmic scale.
pub fn bars(title: &str, bars: &[Bar], unit: impl Fn(f64) -> String) -> Drawing {
    let values = bars.iter().flat_map(|bar| [Some(bar.value), bar.far]).flatten();
    let scale = Scale::around(values.collect::<Vec<_>>().into_iter(), NAMES, WIDTH - NUMBERS);
    let bottom = HEAD + 6.0 + ROW * bars.len() as f64;
    let mut group = Group::new().add(text(0.0, 16.0, "head", "start", title));
    for (tick, place) in apart(&scale, 52.0) {
        group = group.add(line((place, HEAD), (place, bottom), "grid")).add(text(
            place,
            bottom + 15.0,
            "dim",
            "middle",
            &unit(tick),
        ));
    }
    for (index, bar) in bars.iter().enumerate() {
        let top = HEAD + 6.0 + ROW * index as f64;
        let end = scale.of(bar.value);
        let class = bar.kind.class();
        let own = if bar.kind == BarKind::Ours { "ours" } else { "name" };
        group = group.add(text(NAMES - 8.0, top + 12.0, own, "end", &cut(&bar.name))).add(
            Rectangle::new()
                .set("x", NAMES)
                .set("y", rounded(top + 2.0))
                .set("width", rounded((end - NAMES).max(1.0)))
                .set("height", 13)
                .set("rx", 2)
                .set("class", class),
        );
        let mut after = end;
        if let Some(far) = bar.far.filter(|far| *far > bar.value) {
            let far = scale.of(far);
            let middle = top + 8.5;
            group = group.add(line((end, middle), (far, middle), "far")).add(line(
                (far, middle - 4.0),
                (far, middle + 4.0),
                "far",
            ));
            after = far;
        }
        group = group.add(text(after + 5.0, top + 12.0, "number", "start", &bar.text));
    }
    Drawing { group, height: bottom + 22.0, title: title.to_owned() }
}

/// Returns ticks with their positions, with a distance that keeps their labels apart.
fn apart(scale: &Scale, distance: f64) -> Vec<(f64, f64)> {
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for tick in scale.ticks() {
        let place = scale.of(tick);
        if kept.last().is_none_or(|(_, last)| (place - last).abs() >= distance) {
            kept.push((tick, place));
        }
    }
    kept
}

/// Draws a line for each, with both scales logarithmic; `places` are the positions on the lower
/// axis.
pub fn lines(
    title: &str,
    below: &str,
    places: &[(f64, String)],
    series: &[Series],
    unit: impl Fn(f64) -> String,
) -> Drawing {
    /// Room for numbers on the left, and for names on the right.
    const LEFT: f64 = 58.0;
    const RIGHT: f64 = 182.0;
    /// Distance of names.
    const APART: f64 = 14.5;
    let bottom = HEAD + (APART * series.len() as f64).max(210.0);
    let across = Scale {
        from: places.first().map_or(1.0, |(place, _)| *place),
        to: places.last().map_or(10.0, |(place, _)| *place),
        begin: LEFT + 10.0,
        end: WIDTH - RIGHT,
    };
    let values: Vec<f64> = series.iter().flat_map(|series| &series.points).map(|(_, value)| *value).collect();
    let up = Scale::around(values.into_iter(), bottom, HEAD + 4.0);
    let mut group = Group::new().add(text(0.0, 16.0, "head", "start", title));
    for (tick, place) in apart(&up, 18.0) {
        group = group.add(line((LEFT, place), (WIDTH - RIGHT + 6.0, place), "grid")).add(text(
            LEFT - 6.0,
            place + 4.0,
            "dim",
            "end",
            &unit(tick),
        ));
    }
    for (place, name) in places {
        group = group.add(text(across.of(*place), bottom + 16.0, "dim", "middle", name));
    }
    group = group.add(text((LEFT + WIDTH - RIGHT) / 2.0, bottom + 31.0, "dim", "middle", below));
    let ends: Vec<f64> =
        series.iter().map(|series| series.points.last().map_or(bottom, |(_, y)| up.of(*y))).collect();
    let names = spread(&ends, APART, HEAD + 6.0, bottom);
    // Sinew's line last, so that it is on top.
    let mut order: Vec<usize> = (0..series.len()).collect();
    order.sort_by_key(|index| series[*index].colour.is_none());
    for index in order {
        let series = &series[index];
        let colour =
            series.colour.map_or("var(--ours)".to_owned(), |colour| format!("var(--c{})", colour % COLOURS));
        let points: Vec<(f64, f64)> =
            series.points.iter().map(|(x, y)| (rounded(across.of(*x)), rounded(up.of(*y)))).collect();
        let joined: Vec<String> = points.iter().map(|(x, y)| format!("{x},{y}")).collect();
        let own = if series.colour.is_none() { "thick" } else { "thin" };
        let mut part = Group::new().set("style", format!("stroke:{colour};fill:{colour}"));
        part = part.add(Polyline::new().set("points", joined.join(" ")).set("class", own));
        for (x, y) in &points {
            part = part.add(
                Circle::new().set("cx", *x).set("cy", *y).set("r", if own == "thick" { 3.5 } else { 2.6 }),
            );
        }
        let at = names[index];
        if let Some(end) = points.last() {
            let begin = (end.0 + 5.0, end.1);
            part = part.add(line(begin, (WIDTH - RIGHT + 14.0, at), "lead"));
        }
        let class = if own == "thick" { "ours" } else { "name" };
        let name = text(WIDTH - RIGHT + 17.0, at + 4.0, class, "start", &cut(&series.name));
        group = group.add(part.add(name.set("style", format!("fill:{colour}"))));
    }
    Drawing { group, height: bottom + 38.0, title: title.to_owned() }
}

/// Returns heights as near as possible to those wished for, but at least `apart` from each other.
fn spread(wished: &[f64], apart: f64, top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wished.len()).collect();
    order.sort_by(|one, other| wished[*one].total_cmp(&wished[*other]));
    let mut places = wished.to_vec();
    let mut least = top;
    for &index in &order {
        places[index] = places[index].max(least);
        least = places[index] + apart;
    }
    let mut most = bottom;
    for &index in order.iter().rev() {
        places[index] = places[index].min(most);
        most = places[index] - apart;
    }
    places
}

impl Drawing {
    /// Returns the drawing for a page with the style sheet.
    pub fn in_page(&self) -> String {
        self.document(false, 0.0).add(self.group.clone()).to_string()
    }

    /// Returns the drawing as a separate file.
    pub fn file(&self) -> String {
        format!("{}\n", self.document(true, 12.0).add(moved(&self.group, 0.0)))
    }

    fn document(&self, styled: bool, border: f64) -> Document {
        document(&self.title, WIDTH, self.height, styled, border)
    }
}

/// Draws several side by side, in a separate file.
pub fn beside(title: &str, drawings: &[Drawing]) -> String {
    /// Distance between them.
    const BETWEEN: f64 = 28.0;
    let count = drawings.len().max(1) as f64;
    let width = count * WIDTH + (count - 1.0) * BETWEEN;
    let height = drawings.iter().map(|drawing| drawing.height).fold(40.0, f64::max);
    let mut all = document(title, width, height, true, 16.0);
    for (index, drawing) in drawings.iter().enumerate() {
        all = all.add(moved(&drawing.group, index as f64 * (WIDTH + BETWEEN)));
    }
    format!("{all}\n")
}

fn moved(group: &Group, x: f64) -> Group {
    Group::new().set("transform", format!("translate({x},0)")).add(group.clone())
}

fn document(title: &str, width: f64, height: f64, styled: bool, border: f64) -> Document {
    let whole = (rounded(width + 2.0 * border), rounded(height + 2.0 * border));
    let mut document = Document::new()
        .set("viewBox", format!("{} {} {} {}", -border, -border, whole.0, whole.1))
        .set("class", "plot")
        .set("role", "img")
        .set("aria-label", title.replace('"', ""))
        .add(Title::new(title));
    if styled {
        document = document.set("width", whole.0).set("height", whole.1).add(Style::new(STYLE)).add(
            Rectangle::new()
                .set("x", -border)
                .set("y", -border)
                .set("width", whole.0)
                .set("height", whole.1)
                .set("rx", 8)
                .set("class", "paper"),
        );
    }
    document
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_round_below_and_cover_all() {
        let scale = Scale::around([30.0, 4000.0].into_iter(), 0.0, 100.0);
        assert_eq!(scale.from, 20.0);
        assert!(scale.of(30.0) > 0.0 && scale.of(4000.0) < 100.0);
        assert_eq!(scale.ticks(), [30.0, 100.0, 300.0, 1000.0, 3000.0]);
        let narrow = Scale::around([100.0, 110.0].into_iter(), 0.0, 100.0);
        assert!(narrow.ticks().len() >= 2, "{:?}", narrow.ticks());
    }

    #[test]
    fn names_are_spread() {
        let places = spread(&[50.0, 51.0, 10.0, 99.0], 10.0, 0.0, 100.0);
        let mut sorted = places.clone();
        sorted.sort_by(f64::total_cmp);
        assert!(sorted.windows(2).all(|pair| pair[1] - pair[0] >= 10.0), "{places:?}");
        assert!(places[2] < places[0] && places[0] < places[1] && places[1] < places[3]);
    }

    #[test]
    fn drawings_are_well_formed_whatever_names_hold() {
        let bar = |name: &str, kind| Bar {
            name: name.to_owned(),
            kind,
            value: 3.0,
            far: Some(5.0),
            text: "3 <".into(),
        };
        let drawn = bars("<a> & \"b\"", &[bar("sinew", BarKind::Ours), bar("x < & >", BarKind::Peer)], |v| {
            v.to_string()
        });
        for file in [drawn.file(), drawn.in_page(), beside("\"two\" & <b>", &[drawn])] {
            roxmltree::Document::parse(&file).unwrap_or_else(|error| panic!("{error} in {file}"));
        }
        let series = Series { name: "a & b".into(), colour: Some(3), points: vec![(1.0, 2.0), (10.0, 3.0)] };
        let places = [(1.0, "1".to_owned()), (10.0, "10".to_owned())];
        let file = lines("l", "x", &places, &[series], |v| v.to_string()).file();
        roxmltree::Document::parse(&file).unwrap_or_else(|error| panic!("{error} in {file}"));
    }
}
