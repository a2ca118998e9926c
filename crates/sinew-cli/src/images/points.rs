//! The points of `sensor_msgs/PointCloud2`, seen from one side.

use sinew_interfaces::sensor_msgs::msg::{PointCloud2, PointField};

use crate::chart::Cloud;
use crate::cli::pictures::CloudView;
use crate::harmless::one_line;

/// Makes the drawing of a cloud. By ROS 2's convention x is forward, y to the left and z up.
pub(super) fn drawing(cloud: &PointCloud2, view: CloudView) -> Result<Cloud, String> {
    let points = points(cloud)?;
    let (name, axes) = match view {
        CloudView::Above => ("above", [("y", -1.0), ("x", 1.0)]),
        CloudView::Side => ("the left side", [("x", 1.0), ("z", 1.0)]),
        CloudView::Front => ("the front", [("y", 1.0), ("z", 1.0)]),
    };
    let seen = |[x, y, z]: [f64; 3]| match view {
        CloudView::Above => [-y, x, z],
        CloudView::Side => [x, z, y],
        CloudView::Front => [y, z, x],
    };
    let frame = match one_line(&cloud.header.frame_id) {
        frame if frame.is_empty() => frame,
        frame => format!(" in {frame}"),
    };
    let title = format!("{} points{frame}, from {name}", points.len());
    Ok(Cloud { title, points: points.into_iter().map(seen).collect(), axes })
}

/// Returns the points with finite coordinates.
fn points(cloud: &PointCloud2) -> Result<Vec<[f64; 3]>, String> {
    let number = |value: u32| usize::try_from(value).unwrap_or(usize::MAX);
    let (step, row) = (number(cloud.point_step), number(cloud.row_step));
    let field = |name: &str| {
        let found = cloud.fields.iter().find(|field| field.name == name);
        let width = |field: &PointField| match field.datatype {
            PointField::FLOAT32 => Some(4),
            PointField::FLOAT64 => Some(8),
            _ => None,
        };
        let at = found.and_then(|field| Some((number(field.offset), width(field)?)));
        at.filter(|(at, width)| at.saturating_add(*width) <= step)
            .ok_or_else(|| format!("the cloud has no field {name} of float32 or float64"))
    };
    let fields = [field("x")?, field("y")?, field("z")?];
    let (width, height) = (number(cloud.width), number(cloud.height));
    if width == 0 || height == 0 {
        return Ok(Vec::new());
    }
    if row < step.saturating_mul(width) || cloud.data.len() / row.max(1) < height {
        let bytes = cloud.data.len();
        return Err(format!("{width} x {height} points with a row of {row} bytes are not in {bytes} bytes"));
    }
    let rows = cloud.data.chunks_exact(row.max(1)).take(height);
    let all = rows.flat_map(|line| line[..step * width].chunks_exact(step.max(1)));
    let coordinate = |point: &[u8], (at, width): (usize, usize)| {
        let bytes = &point[at..at + width];
        match (<[u8; 4]>::try_from(bytes), <[u8; 8]>::try_from(bytes)) {
            (Ok(four), _) if cloud.is_bigendian => f32::from_be_bytes(four).into(),
            (Ok(four), _) => f32::from_le_bytes(four).into(),
            (_, Ok(eight)) if cloud.is_bigendian => f64::from_be_bytes(eight),
            (_, Ok(eight)) => f64::from_le_bytes(eight),
            _ => f64::NAN, // no other width
        }
    };
    let all = all.map(|point| fields.map(|field| coordinate(point, field)));
    Ok(all.filter(|point| point.iter().all(|value| value.is_finite())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cloud(points: &[[f32; 3]]) -> PointCloud2 {
        let field = |(name, offset): (&str, u32)| PointField {
            name: name.to_owned(),
            offset,
            datatype: PointField::FLOAT32,
            count: 1,
        };
        let width = u32::try_from(points.len()).unwrap();
        PointCloud2 {
            height: 1,
            width,
            fields: [("x", 0), ("y", 4), ("z", 8)].map(field).to_vec(),
            point_step: 12,
            row_step: 12 * width,
            data: points.iter().flatten().flat_map(|value| value.to_le_bytes()).collect(),
            ..PointCloud2::default()
        }
    }

    #[test]
    fn points_are_seen_from_each_side() {
        let cloud = cloud(&[[1.0, 2.0, 3.0], [f32::NAN, 0.0, 0.0]]);
        let seen = |view| drawing(&cloud, view).unwrap().points;
        assert_eq!(seen(CloudView::Above), [[-2.0, 1.0, 3.0]]);
        assert_eq!(seen(CloudView::Side), [[1.0, 3.0, 2.0]]);
        assert_eq!(seen(CloudView::Front), [[2.0, 3.0, 1.0]]);
    }

    #[test]
    fn clouds_without_all_their_bytes_or_fields_are_errors() {
        let mut short = cloud(&[[1.0, 2.0, 3.0]]);
        short.data.pop();
        assert!(points(&short).unwrap_err().contains("are not in 11 bytes"));
        let mut flat = cloud(&[[1.0, 2.0, 3.0]]);
        flat.fields.pop();
        assert!(points(&flat).unwrap_err().contains("field z"));
        let mut outside = cloud(&[[1.0, 2.0, 3.0]]);
        outside.fields[2].offset = u32::MAX;
        assert!(points(&outside).unwrap_err().contains("field z"));
        assert!(points(&cloud(&[])).unwrap().is_empty());
    }
}
