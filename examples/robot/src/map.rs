//! The world: a grid of cells that are free or not. No messages here, so it is tested by itself.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A cell's side, in m.
pub const CELL: f64 = 0.25;

/// Where the robot stands at first, in m.
pub const START: [f64; 2] = [1.125, 1.125];

/// A column and a row.
type Cell = [usize; 2];

/// What is free and what isn't.
#[derive(Debug, Clone)]
pub struct Map {
    /// By rows.
    walls: Vec<Vec<bool>>,
}

impl Map {
    /// The world of this example.
    #[must_use]
    pub fn example() -> Self {
        Self::parse(include_str!("map.txt"))
    }

    /// Of lines in which `#` is a wall.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        Self { walls: text.lines().map(|line| line.chars().map(|cell| cell == '#').collect()).collect() }
    }

    /// Whether a point is in a wall. All around the map is.
    #[must_use]
    pub fn is_wall(&self, [x, y]: [f64; 2]) -> bool {
        cell([x, y]).is_none_or(|[column, row]| self.is_wall_at(column, row))
    }

    fn is_wall_at(&self, column: usize, row: usize) -> bool {
        self.walls.get(row).and_then(|row| row.get(column)).copied().unwrap_or(true)
    }

    /// How far it is to the next wall in a direction, in m; at most `most`.
    #[must_use]
    pub fn range(&self, [x, y]: [f64; 2], direction: f64, most: f64) -> f64 {
        const STEP: f64 = 0.02;
        let (sin, cos) = direction.sin_cos();
        let mut distance = 0.0;
        while distance < most && !self.is_wall([x + distance * cos, y + distance * sin]) {
            distance += STEP;
        }
        distance.min(most)
    }

    /// The shortest way around walls, with a cell's distance from them; none if there is no way
    /// (Dijkstra's algorithm).
    #[must_use]
    pub fn path(&self, from: [f64; 2], to: [f64; 2]) -> Option<Vec<[f64; 2]>> {
        let (start, goal) = (cell(from)?, cell(to)?);
        let width = self.walls.iter().map(Vec::len).max()?;
        let index = |[column, row]: Cell| row * width + column;
        let mut came_from: Vec<Option<Cell>> = vec![None; width * self.walls.len()];
        let mut cost = vec![u32::MAX; came_from.len()];
        let mut queue = BinaryHeap::from([Reverse((0, start))]);
        *cost.get_mut(index(start))? = 0;
        while let Some(Reverse((so_far, here))) = queue.pop() {
            if here == goal {
                let mut way = vec![to];
                let mut at = goal;
                while let Some(before) = came_from[index(at)] {
                    way.push(middle(before));
                    at = before;
                }
                way.reverse();
                return Some(way);
            }
            for (next, step) in neighbours(here) {
                let is_free = next == goal && !self.is_wall_at(next[0], next[1]) || self.has_room(next);
                if is_free && so_far + step < cost[index(next)] {
                    cost[index(next)] = so_far + step;
                    came_from[index(next)] = Some(here);
                    queue.push(Reverse((so_far + step, next)));
                }
            }
        }
        None
    }

    /// Whether neither a cell nor one around it is a wall.
    fn has_room(&self, [column, row]: Cell) -> bool {
        (row.saturating_sub(1)..=row + 1)
            .all(|row| (column.saturating_sub(1)..=column + 1).all(|column| !self.is_wall_at(column, row)))
    }
}

/// The cell that a point is in, if it isn't left of or below all.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is a small positive number")]
fn cell([x, y]: [f64; 2]) -> Option<Cell> {
    (x >= 0.0 && y >= 0.0 && x < 1e6 && y < 1e6).then(|| [(x / CELL) as usize, (y / CELL) as usize])
}

#[expect(clippy::cast_precision_loss, reason = "they are small numbers")]
fn middle(cell: Cell) -> [f64; 2] {
    cell.map(|number| (number as f64 + 0.5) * CELL)
}

/// The eight around a cell, and what a step there costs.
fn neighbours([column, row]: Cell) -> impl Iterator<Item = (Cell, u32)> {
    let around =
        [(0, 0, 14), (1, 0, 10), (2, 0, 14), (0, 1, 10), (2, 1, 10), (0, 2, 14), (1, 2, 10), (2, 2, 14)];
    around.into_iter().filter_map(move |(right, up, cost)| {
        Some(([(column + right).checked_sub(1)?, (row + up).checked_sub(1)?], cost))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_go_around_walls() {
        let map = Map::example();
        let way = map.path(START, [4.875, 1.125]).unwrap();
        assert!(way.iter().all(|point| !map.is_wall(*point)), "{way:?}");
        assert_eq!(way.last(), Some(&[4.875, 1.125]));
        assert!(map.path(START, [4.625, 2.875]).is_none(), "a room without a door");
        assert!(map.path(START, [0.1, 0.1]).is_none(), "a wall");
        assert!(map.path(START, [-1.0, 99.0]).is_none(), "outside");
    }

    #[test]
    fn a_ray_ends_at_a_wall() {
        let map = Map::example();
        assert!((map.range(START, std::f64::consts::PI, 8.0) - (START[0] - CELL)).abs() < 0.05);
        assert_eq!(map.range(START, 0.0, 0.5), 0.5);
    }
}
