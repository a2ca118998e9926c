/// Vectors, quaternions, matrices and transforms of tf2.
#ifndef SINEW_TF2_LINEAR_MATH_HPP
#define SINEW_TF2_LINEAR_MATH_HPP

#include <array>
#include <cmath>
#include <cstddef>

using tf2Scalar = double;

namespace tf2
{

/// x, y and z.
class Vector3
{
public:
  Vector3() = default;
  Vector3(double x, double y, double z)
  : parts_{x, y, z} {}

  double x() const {return parts_[0];}
  double y() const {return parts_[1];}
  double z() const {return parts_[2];}
  double getX() const {return x();}
  double getY() const {return y();}
  double getZ() const {return z();}
  void setX(double x) {parts_[0] = x;}
  void setY(double y) {parts_[1] = y;}
  void setZ(double z) {parts_[2] = z;}
  void setValue(double x, double y, double z) {parts_ = {x, y, z};}
  void setZero() {parts_ = {};}
  double & operator[](std::size_t index) {return parts_[index];}
  const double & operator[](std::size_t index) const {return parts_[index];}

  double dot(const Vector3 & other) const
  {
    return x() * other.x() + y() * other.y() + z() * other.z();
  }
  Vector3 cross(const Vector3 & other) const
  {
    return {y() * other.z() - z() * other.y(), z() * other.x() - x() * other.z(),
      x() * other.y() - y() * other.x()};
  }
  double length2() const {return dot(*this);}
  double length() const {return std::sqrt(length2());}
  double distance2(const Vector3 & other) const {return (other - *this).length2();}
  double distance(const Vector3 & other) const {return (other - *this).length();}
  double angle(const Vector3 & other) const
  {
    return std::acos(dot(other) / std::sqrt(length2() * other.length2()));
  }
  Vector3 normalized() const {return *this / length();}
  Vector3 & normalize() {return *this = normalized();}
  /// Between this (ratio 0) and another one (1), on a line.
  Vector3 lerp(const Vector3 & other, double ratio) const {return *this + (other - *this) * ratio;}

  Vector3 & operator+=(const Vector3 & other) {return *this = *this + other;}
  Vector3 & operator-=(const Vector3 & other) {return *this = *this - other;}
  Vector3 & operator*=(double factor) {return *this = *this * factor;}
  Vector3 & operator/=(double divisor) {return *this = *this / divisor;}
  Vector3 operator-() const {return {-x(), -y(), -z()};}
  friend Vector3 operator+(const Vector3 & one, const Vector3 & other)
  {
    return {one.x() + other.x(), one.y() + other.y(), one.z() + other.z()};
  }
  friend Vector3 operator-(const Vector3 & one, const Vector3 & other) {return one + -other;}
  friend Vector3 operator*(const Vector3 & vector, double factor)
  {
    return {vector.x() * factor, vector.y() * factor, vector.z() * factor};
  }
  friend Vector3 operator*(double factor, const Vector3 & vector) {return vector * factor;}
  /// Part by part.
  friend Vector3 operator*(const Vector3 & one, const Vector3 & other)
  {
    return {one.x() * other.x(), one.y() * other.y(), one.z() * other.z()};
  }
  friend Vector3 operator/(const Vector3 & vector, double divisor) {return vector * (1 / divisor);}
  bool operator==(const Vector3 & other) const {return parts_ == other.parts_;}
  bool operator!=(const Vector3 & other) const {return !(*this == other);}

private:
  std::array<double, 3> parts_{};
};

inline double tf2Dot(const Vector3 & one, const Vector3 & other) {return one.dot(other);}
inline Vector3 tf2Cross(const Vector3 & one, const Vector3 & other) {return one.cross(other);}
inline double tf2Distance(const Vector3 & one, const Vector3 & other) {return one.distance(other);}

/// A rotation: x, y, z and w, of length 1.
class Quaternion
{
public:
  /// The identity.
  Quaternion() = default;
  Quaternion(double x, double y, double z, double w)
  : parts_{x, y, z, w} {}
  /// About an axis, in rad.
  Quaternion(const Vector3 & axis, double angle) {setRotation(axis, angle);}

  double x() const {return parts_[0];}
  double y() const {return parts_[1];}
  double z() const {return parts_[2];}
  double w() const {return parts_[3];}
  double getX() const {return x();}
  double getY() const {return y();}
  double getZ() const {return z();}
  double getW() const {return w();}
  void setX(double x) {parts_[0] = x;}
  void setY(double y) {parts_[1] = y;}
  void setZ(double z) {parts_[2] = z;}
  void setW(double w) {parts_[3] = w;}
  void setValue(double x, double y, double z, double w) {parts_ = {x, y, z, w};}

  void setRotation(const Vector3 & axis, double angle)
  {
    const Vector3 part = axis * (std::sin(angle / 2) / axis.length());
    setValue(part.x(), part.y(), part.z(), std::cos(angle / 2));
  }

  /// About the fixed axes x, y and z, in this order, in rad.
  void setRPY(double roll, double pitch, double yaw)
  {
    const double sr = std::sin(roll / 2), cr = std::cos(roll / 2);
    const double sp = std::sin(pitch / 2), cp = std::cos(pitch / 2);
    const double sy = std::sin(yaw / 2), cy = std::cos(yaw / 2);
    setValue(
      sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy,
      cr * cp * sy - sr * sp * cy, cr * cp * cy + sr * sp * sy);
  }

  /// About the axes y (yaw), x (pitch) and z (roll), each as the former ones have turned it.
  void setEuler(double yaw, double pitch, double roll)
  {
    *this = Quaternion({0, 1, 0}, yaw) * Quaternion({1, 0, 0}, pitch) * Quaternion({0, 0, 1}, roll);
  }

  double dot(const Quaternion & other) const
  {
    return x() * other.x() + y() * other.y() + z() * other.z() + w() * other.w();
  }
  double length2() const {return dot(*this);}
  double length() const {return std::sqrt(length2());}
  Quaternion normalized() const {return *this / length();}
  Quaternion & normalize() {return *this = normalized();}
  Quaternion inverse() const {return {-x(), -y(), -z(), w()};}

  /// The angle, up to a whole turn, and the axis about which it turns.
  double getAngle() const {return 2 * std::acos(clamped(w()));}
  double getAngleShortestPath() const {return 2 * std::acos(clamped(std::abs(w())));}
  Vector3 getAxis() const
  {
    const double squared = 1 - w() * w();
    return squared <= 0 ? Vector3(1, 0, 0) : Vector3(x(), y(), z()) / std::sqrt(squared);
  }

  /// Half of the angle between two rotations, and the whole of it on the shorter way, in rad.
  double angle(const Quaternion & other) const
  {
    return std::acos(clamped(dot(other) / std::sqrt(length2() * other.length2())));
  }
  double angleShortestPath(const Quaternion & other) const
  {
    return 2 * std::acos(clamped(std::abs(dot(other)) / std::sqrt(length2() * other.length2())));
  }

  /// Between this (ratio 0) and another one (1), at a constant rate on the shorter way.
  Quaternion slerp(const Quaternion & other, double ratio) const
  {
    const double theta = angleShortestPath(other) / 2;
    if (theta == 0) {
      return *this;
    }
    const double sign = dot(other) < 0 ? -1 : 1;
    const double from = std::sin((1 - ratio) * theta), to = sign * std::sin(ratio * theta);
    return (*this * from + other * to) / std::sin(theta);
  }

  static const Quaternion & getIdentity()
  {
    static const Quaternion identity;
    return identity;
  }

  Quaternion & operator*=(const Quaternion & other) {return *this = *this * other;}
  Quaternion operator-() const {return *this * -1.0;}
  /// First the second rotation, then the first one.
  friend Quaternion operator*(const Quaternion & a, const Quaternion & b)
  {
    return {a.w() * b.x() + a.x() * b.w() + a.y() * b.z() - a.z() * b.y(),
      a.w() * b.y() + a.y() * b.w() + a.z() * b.x() - a.x() * b.z(),
      a.w() * b.z() + a.z() * b.w() + a.x() * b.y() - a.y() * b.x(),
      a.w() * b.w() - a.x() * b.x() - a.y() * b.y() - a.z() * b.z()};
  }
  friend Quaternion operator*(const Quaternion & q, double factor)
  {
    return {q.x() * factor, q.y() * factor, q.z() * factor, q.w() * factor};
  }
  friend Quaternion operator/(const Quaternion & q, double divisor) {return q * (1 / divisor);}
  friend Quaternion operator+(const Quaternion & a, const Quaternion & b)
  {
    return {a.x() + b.x(), a.y() + b.y(), a.z() + b.z(), a.w() + b.w()};
  }
  friend Quaternion operator-(const Quaternion & a, const Quaternion & b) {return a + -b;}
  bool operator==(const Quaternion & other) const {return parts_ == other.parts_;}
  bool operator!=(const Quaternion & other) const {return !(*this == other);}

private:
  /// Rounding must not leave the domain of `acos`.
  static double clamped(double cosine) {return cosine > 1 ? 1 : cosine < -1 ? -1 : cosine;}

  std::array<double, 4> parts_{0, 0, 0, 1};
};

inline double angle(const Quaternion & one, const Quaternion & other) {return one.angle(other);}
inline double angleShortestPath(const Quaternion & one, const Quaternion & other)
{
  return one.angleShortestPath(other);
}
inline Quaternion slerp(const Quaternion & from, const Quaternion & to, double ratio)
{
  return from.slerp(to, ratio);
}
inline Quaternion inverse(const Quaternion & rotation) {return rotation.inverse();}

/// Turns a vector.
inline Vector3 quatRotate(const Quaternion & rotation, const Vector3 & vector)
{
  const Vector3 part(rotation.x(), rotation.y(), rotation.z());
  const Vector3 twice = part.cross(vector) * 2;
  return vector + twice * rotation.w() + part.cross(twice);
}

/// Three rows of three.
class Matrix3x3
{
public:
  /// The identity.
  Matrix3x3() {setIdentity();}
  explicit Matrix3x3(const Quaternion & rotation) {setRotation(rotation);}
  Matrix3x3(
    double xx, double xy, double xz, double yx, double yy, double yz, double zx, double zy,
    double zz)
  {
    setValue(xx, xy, xz, yx, yy, yz, zx, zy, zz);
  }

  Vector3 & operator[](std::size_t row) {return rows_[row];}
  const Vector3 & operator[](std::size_t row) const {return rows_[row];}
  const Vector3 & getRow(std::size_t row) const {return rows_[row];}
  Vector3 getColumn(std::size_t column) const
  {
    return {rows_[0][column], rows_[1][column], rows_[2][column]};
  }

  void setValue(
    double xx, double xy, double xz, double yx, double yy, double yz, double zx, double zy,
    double zz)
  {
    rows_ = {Vector3(xx, xy, xz), Vector3(yx, yy, yz), Vector3(zx, zy, zz)};
  }
  void setIdentity() {setValue(1, 0, 0, 0, 1, 0, 0, 0, 1);}
  static const Matrix3x3 & getIdentity()
  {
    static const Matrix3x3 identity;
    return identity;
  }

  void setRotation(const Quaternion & rotation)
  {
    const Quaternion q = rotation.normalized();
    const Vector3 x = quatRotate(q, {1, 0, 0}), y = quatRotate(q, {0, 1, 0}),
      z = quatRotate(q, {0, 0, 1});
    setValue(x.x(), y.x(), z.x(), x.y(), y.y(), z.y(), x.z(), y.z(), z.z());
  }

  /// The rotation about the fixed axes x, y and z, in this order, in rad.
  void setRPY(double roll, double pitch, double yaw)
  {
    Quaternion rotation;
    rotation.setRPY(roll, pitch, yaw);
    setRotation(rotation);
  }
  void setEulerYPR(double yaw, double pitch, double roll) {setRPY(roll, pitch, yaw);}

  /// The angles about the fixed axes x, y and z, in rad. Where the pitch is a quarter turn, only
  /// the sum or difference of roll and yaw counts: the yaw is 0 then. Solution 2 has the same
  /// rotation with a pitch beyond a quarter turn.
  void getRPY(double & roll, double & pitch, double & yaw, unsigned int solution = 1) const
  {
    const double down = rows_[2][0];
    constexpr double quarter = 1.57079632679489661923;
    if (std::abs(down) >= 1 - 1e-15) {  // what is left of roll and yaw is rounding
      yaw = 0;
      pitch = down < 0 ? quarter : -quarter;
      roll =
        down < 0 ? std::atan2(rows_[0][1], rows_[0][2]) : std::atan2(-rows_[0][1], -rows_[0][2]);
      return;
    }
    const double sign = solution == 2 ? -1 : 1;
    pitch = solution == 2 ? 2 * quarter + std::asin(down) : -std::asin(down);
    roll = std::atan2(sign * rows_[2][1], sign * rows_[2][2]);
    yaw = std::atan2(sign * rows_[1][0], sign * rows_[0][0]);
  }
  void getEulerYPR(double & yaw, double & pitch, double & roll, unsigned int solution = 1) const
  {
    getRPY(roll, pitch, yaw, solution);
  }

  void getRotation(Quaternion & rotation) const
  {
    const Matrix3x3 & m = *this;
    const double trace = m[0][0] + m[1][1] + m[2][2];
    if (trace > 0) {
      const double s = std::sqrt(trace + 1) * 2;
      rotation.setValue(
        (m[2][1] - m[1][2]) / s, (m[0][2] - m[2][0]) / s, (m[1][0] - m[0][1]) / s, s / 4);
      return;
    }
    const std::size_t i =
      m[0][0] < m[1][1] ? (m[1][1] < m[2][2] ? 2 : 1) : (m[0][0] < m[2][2] ? 2 : 0);
    const std::size_t j = (i + 1) % 3, k = (i + 2) % 3;
    const double s = std::sqrt(m[i][i] - m[j][j] - m[k][k] + 1) * 2;
    std::array<double, 3> parts{};
    parts[i] = s / 4;
    parts[j] = (m[j][i] + m[i][j]) / s;
    parts[k] = (m[k][i] + m[i][k]) / s;
    rotation.setValue(parts[0], parts[1], parts[2], (m[k][j] - m[j][k]) / s);
  }

  Matrix3x3 transpose() const
  {
    Matrix3x3 turned;
    turned.rows_ = {getColumn(0), getColumn(1), getColumn(2)};
    return turned;
  }
  double determinant() const {return rows_[0].dot(rows_[1].cross(rows_[2]));}
  Matrix3x3 inverse() const
  {
    Matrix3x3 columns;
    columns.rows_ = {rows_[1].cross(rows_[2]), rows_[2].cross(rows_[0]), rows_[0].cross(rows_[1])};
    for (Vector3 & row : columns.rows_) {
      row /= determinant();
    }
    return columns.transpose();
  }

  friend Vector3 operator*(const Matrix3x3 & matrix, const Vector3 & vector)
  {
    return {matrix[0].dot(vector), matrix[1].dot(vector), matrix[2].dot(vector)};
  }
  friend Matrix3x3 operator*(const Matrix3x3 & one, const Matrix3x3 & other)
  {
    const Matrix3x3 columns = other.transpose();
    Matrix3x3 product;
    for (std::size_t row = 0; row < 3; ++row) {
      product[row] = columns * one[row];
    }
    return product;
  }
  Matrix3x3 & operator*=(const Matrix3x3 & other) {return *this = *this * other;}
  bool operator==(const Matrix3x3 & other) const {return rows_ == other.rows_;}
  bool operator!=(const Matrix3x3 & other) const {return !(*this == other);}

private:
  std::array<Vector3, 3> rows_;
};

/// A rotation, then a translation.
class Transform
{
public:
  /// The identity.
  Transform() = default;
  explicit Transform(const Quaternion & rotation, const Vector3 & origin = Vector3())
  : basis_(rotation), origin_(origin) {}
  explicit Transform(const Matrix3x3 & basis, const Vector3 & origin = Vector3())
  : basis_(basis), origin_(origin) {}

  Matrix3x3 & getBasis() {return basis_;}
  const Matrix3x3 & getBasis() const {return basis_;}
  Vector3 & getOrigin() {return origin_;}
  const Vector3 & getOrigin() const {return origin_;}
  Quaternion getRotation() const
  {
    Quaternion rotation;
    basis_.getRotation(rotation);
    return rotation;
  }
  void setBasis(const Matrix3x3 & basis) {basis_ = basis;}
  void setOrigin(const Vector3 & origin) {origin_ = origin;}
  void setRotation(const Quaternion & rotation) {basis_.setRotation(rotation);}
  void setIdentity() {*this = Transform();}
  static const Transform & getIdentity()
  {
    static const Transform identity;
    return identity;
  }

  Vector3 operator()(const Vector3 & vector) const {return basis_ * vector + origin_;}
  Vector3 operator*(const Vector3 & vector) const {return (*this)(vector);}
  Quaternion operator*(const Quaternion & rotation) const {return getRotation() * rotation;}
  Transform operator*(const Transform & other) const
  {
    return Transform(basis_ * other.basis_, (*this)(other.origin_));
  }
  Transform & operator*=(const Transform & other) {return *this = *this * other;}
  void mult(const Transform & one, const Transform & other) {*this = one * other;}
  Transform inverse() const
  {
    const Matrix3x3 back = basis_.transpose();
    return Transform(back, back * -origin_);
  }
  Transform inverseTimes(const Transform & other) const {return inverse() * other;}
  bool operator==(const Transform & other) const
  {
    return basis_ == other.basis_ && origin_ == other.origin_;
  }
  bool operator!=(const Transform & other) const {return !(*this == other);}

private:
  Matrix3x3 basis_;
  Vector3 origin_;
};

}  // namespace tf2

#endif  // SINEW_TF2_LINEAR_MATH_HPP
