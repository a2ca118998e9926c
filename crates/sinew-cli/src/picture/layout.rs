//! Places the boxes and lines of a directed graph, in columns from left to right.
//!
//! The method is that of Sugiyama, Tagawa and Toda ("Methods for visual understanding of
//! hierarchical system structures", 1981), in its simplest form: lines that would close a circle
//! are reversed; each box stands one column behind the last of its predecessors; a line over
//! several columns gets a point in each; columns are ordered repeatedly by the middle of their
//! neighbours; then boxes move as close to their neighbours as the others in their column allow.
//! Pure: the same graph always gets the same layout.

/// Number of passes that order columns by their neighbours, forwards and backwards.
const SWEEPS: usize = 12;

/// Distance of two columns, for lines and their labels.
const BETWEEN_COLUMNS: f64 = 110.0;

/// Distance of two boxes in a column.
const BETWEEN_BOXES: f64 = 18.0;

/// A point in the picture; y grows downwards.
pub(super) type Point = (f64, f64);

/// The positions of all boxes and lines.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// The middle of each box.
    pub(super) boxes: Vec<Point>,
    /// The points of each line, from the right side of a box to the left side of another one, or
    /// the other way round if it goes back.
    pub(super) lines: Vec<Vec<Point>>,
    pub(super) size: Point,
}

/// A box, or the point of a line in a column.
struct Vertex {
    size: Point,
    column: usize,
    /// Of its middle.
    y: f64,
    before: Vec<usize>,
    behind: Vec<usize>,
}

/// Places boxes of these sizes (width, height), with lines between pairs of them.
pub(super) fn place(sizes: &[Point], lines: &[(usize, usize)]) -> Layout {
    let turned = turned(sizes.len(), lines);
    let forward: Vec<(usize, usize)> = lines
        .iter()
        .zip(&turned)
        .map(|(&(from, to), turned)| if *turned { (to, from) } else { (from, to) })
        .collect();
    let columns = columns(sizes.len(), &forward);
    let new = |size, column| Vertex { size, column, y: 0.0, before: Vec::new(), behind: Vec::new() };
    let mut vertices: Vec<Vertex> =
        sizes.iter().zip(&columns).map(|(&size, &column)| new(size, column)).collect();
    let mut chains = Vec::with_capacity(lines.len());
    for &(from, to) in &forward {
        let mut chain = vec![from];
        for column in columns[from] + 1..columns[to] {
            chain.push(vertices.len());
            vertices.push(new((0.0, 0.0), column));
        }
        chain.push(to);
        for pair in chain.windows(2) {
            vertices[pair[0]].behind.push(pair[1]);
            vertices[pair[1]].before.push(pair[0]);
        }
        chains.push(chain);
    }
    let order = ordered(&vertices);
    set_heights(&mut vertices, &order);
    finish(&vertices, sizes.len(), (&order, &chains, &turned))
}

/// Marks the lines to be reversed so that none closes a circle: those that lead back to a box on
/// the current path of a walk over all lines.
fn turned(boxes: usize, lines: &[(usize, usize)]) -> Vec<bool> {
    let mut leaving = vec![Vec::new(); boxes];
    for (index, &(from, _)) in lines.iter().enumerate() {
        leaving[from].push(index);
    }
    let mut turned = vec![false; lines.len()];
    // Number of a box's lines that the walk has followed; `None` before it reached the box.
    let mut followed: Vec<Option<usize>> = vec![None; boxes];
    let mut is_on_the_way = vec![false; boxes];
    for start in 0..boxes {
        let mut walk = if followed[start].is_none() { vec![start] } else { Vec::new() };
        while let Some(&at) = walk.last() {
            is_on_the_way[at] = true;
            let next = followed[at].get_or_insert(0);
            let Some(&line) = leaving[at].get(*next) else {
                is_on_the_way[at] = false;
                walk.pop();
                continue;
            };
            *next += 1;
            let (_, to) = lines[line];
            if is_on_the_way[to] {
                turned[line] = true;
            } else if followed[to].is_none() {
                walk.push(to);
            }
        }
    }
    turned
}

/// Returns the column of each box: one behind the last of its predecessors; boxes without
/// predecessors stand close to their successors.
fn columns(boxes: usize, lines: &[(usize, usize)]) -> Vec<usize> {
    let mut columns = vec![0; boxes];
    let mut missing = vec![0; boxes];
    let mut behind = vec![Vec::new(); boxes];
    for &(from, to) in lines {
        missing[to] += 1;
        behind[from].push(to);
    }
    let is_first: Vec<bool> = missing.iter().map(|&missing| missing == 0).collect();
    let mut ready: Vec<usize> = (0..boxes).filter(|&one| is_first[one]).collect();
    while let Some(one) = ready.pop() {
        for &next in &behind[one] {
            columns[next] = columns[next].max(columns[one] + 1);
            missing[next] -= 1;
            if missing[next] == 0 {
                ready.push(next);
            }
        }
    }
    for one in (0..boxes).filter(|&one| is_first[one]) {
        if let Some(nearest) = behind[one].iter().map(|&next| columns[next]).min() {
            columns[one] = nearest - 1;
        }
    }
    columns
}

/// Orders the vertices of each column from top to bottom so that few lines cross.
fn ordered(vertices: &[Vertex]) -> Vec<Vec<usize>> {
    let count = vertices.iter().map(|vertex| vertex.column + 1).max().unwrap_or(0);
    let mut order = vec![Vec::new(); count];
    for (index, vertex) in vertices.iter().enumerate() {
        order[vertex.column].push(index);
    }
    let mut rank = vec![0.0; vertices.len()];
    let set = |rank: &mut Vec<f64>, column: &[usize]| {
        column.iter().enumerate().for_each(|(place, &one)| rank[one] = place as f64);
    };
    order.iter().for_each(|column| set(&mut rank, column));
    for sweep in 0..SWEEPS {
        let forward = sweep % 2 == 0;
        for step in 0..count {
            let column = if forward { step } else { count - 1 - step };
            let middle = |one: usize| {
                let near = if forward { &vertices[one].before } else { &vertices[one].behind };
                mean(near.iter().map(|&other| rank[other])).unwrap_or(rank[one])
            };
            let mut sorted: Vec<(f64, usize)> = order[column].iter().map(|&one| (middle(one), one)).collect();
            sorted.sort_by(|one, other| one.0.total_cmp(&other.0)); // equal ones keep their order
            order[column] = sorted.into_iter().map(|(_, one)| one).collect();
            set(&mut rank, &order[column]);
        }
    }
    order
}

/// Moves all vertices as close to the middle of their neighbours as the others in their column
/// allow.
fn set_heights(vertices: &mut [Vertex], order: &[Vec<usize>]) {
    for sweep in 0..=SWEEPS {
        for step in 0..order.len() {
            let column = if sweep % 2 == 0 { step } else { order.len() - 1 - step };
            let wanted = |vertex: &Vertex| {
                let near = vertex.before.iter().chain(&vertex.behind);
                mean(near.map(|&other| vertices[other].y)).filter(|_| sweep > 0).unwrap_or(vertex.y)
            };
            let wanted: Vec<f64> = order[column].iter().map(|&one| wanted(&vertices[one])).collect();
            let apart = |one: usize, other: usize| {
                (vertices[order[column][one]].size.1 + vertices[order[column][other]].size.1) / 2.0
                    + BETWEEN_BOXES
            };
            // Pushed down by those above, and up by those below; the mean of both also keeps the
            // distances.
            let (mut down, mut up) = (wanted.clone(), wanted);
            for place in 1..down.len() {
                down[place] = down[place].max(down[place - 1] + apart(place - 1, place));
                let above = up.len() - 1 - place;
                up[above] = up[above].min(up[above + 1] - apart(above, above + 1));
            }
            for (place, &one) in order[column].iter().enumerate() {
                vertices[one].y = f64::midpoint(down[place], up[place]);
            }
        }
    }
}

type Arranged<'a> = (&'a [Vec<usize>], &'a [Vec<usize>], &'a [bool]);

fn finish(vertices: &[Vertex], boxes: usize, (order, chains, turned): Arranged<'_>) -> Layout {
    let top = vertices.iter().map(|vertex| vertex.y - vertex.size.1 / 2.0).fold(f64::INFINITY, f64::min);
    let bottom = vertices.iter().map(|vertex| vertex.y + vertex.size.1 / 2.0).fold(top, f64::max);
    let widths: Vec<f64> = order
        .iter()
        .map(|column| column.iter().map(|&one| vertices[one].size.0).fold(0.0, f64::max))
        .collect();
    let mut lefts = Vec::with_capacity(widths.len());
    let mut right = 0.0;
    for width in &widths {
        lefts.push(right);
        right += width + BETWEEN_COLUMNS;
    }
    let at = |one: usize| {
        let vertex = &vertices[one];
        (lefts[vertex.column] + widths[vertex.column] / 2.0, vertex.y - top)
    };
    let line = |(chain, turned): (&Vec<usize>, &bool)| {
        let (first, last) = (chain[0], chain[chain.len() - 1]);
        let mut points = vec![(at(first).0 + vertices[first].size.0 / 2.0, at(first).1)];
        for &one in &chain[1..chain.len() - 1] {
            // Straight through the whole column, where there is room.
            let (_, y) = at(one);
            let left = lefts[vertices[one].column];
            points.extend([(left, y), (left + widths[vertices[one].column], y)]);
        }
        points.push((at(last).0 - vertices[last].size.0 / 2.0, at(last).1));
        if *turned {
            points.reverse();
        }
        points
    };
    if boxes == 0 {
        return Layout::default();
    }
    Layout {
        boxes: (0..boxes).map(at).collect(),
        lines: chains.iter().zip(turned).map(line).collect(),
        size: (right - BETWEEN_COLUMNS, bottom - top),
    }
}

fn mean(all: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = all.fold((0.0, 0), |(sum, count), one| (sum + one, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Point = (100.0, 40.0);

    #[test]
    fn a_chain_stands_in_a_row() {
        let layout = place(&[SIZE; 3], &[(0, 1), (1, 2)]);
        assert_eq!(layout.boxes, [(50.0, 20.0), (260.0, 20.0), (470.0, 20.0)]);
        assert_eq!(layout.lines[0], [(100.0, 20.0), (210.0, 20.0)]);
        assert_eq!(layout.size, (520.0, 40.0));
        assert!(place(&[], &[]).boxes.is_empty());
    }

    #[test]
    fn a_circle_has_a_line_that_goes_back() {
        let layout = place(&[SIZE; 2], &[(0, 1), (1, 0)]);
        assert!(layout.boxes[0].0 < layout.boxes[1].0);
        assert_eq!(layout.lines[1], [(210.0, 20.0), (100.0, 20.0)]);
    }

    #[test]
    fn no_box_stands_on_another_one_and_no_line_crosses_without_need() {
        // Three parallel chains in mixed order, one line over several columns, and a separate box.
        let lines = [(0, 5), (1, 4), (2, 3), (3, 8), (4, 7), (5, 6), (0, 9), (6, 9)];
        let sizes: Vec<Point> = (0..11).map(|index| (80.0 + f64::from(index), 30.0)).collect();
        let layout = place(&sizes, &lines);
        for (one, &(x, y)) in layout.boxes.iter().enumerate() {
            assert!((0.0..=layout.size.0).contains(&x) && (14.9..=layout.size.1 - 14.9).contains(&y));
            for &(other_x, other_y) in &layout.boxes[..one] {
                assert!((x - other_x).abs() > 90.0 || (y - other_y).abs() > 30.0 + BETWEEN_BOXES - 1e-6);
            }
        }
        let place_of = |column: [usize; 3]| {
            let mut column = column.map(|one| (layout.boxes[one].1, one));
            column.sort_by(|one, other| one.0.total_cmp(&other.0));
            column.map(|(_, one)| one)
        };
        let first = place_of([0, 1, 2]).map(|one| one % 3);
        assert_eq!(place_of([3, 4, 5]).map(|one| 5 - one), first);
        assert_eq!(place_of([6, 7, 8]).map(|one| one - 6), first);
    }
}
