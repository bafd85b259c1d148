{ SPDX-License-Identifier: GPL-2.0-or-later
  Gravity among eight bodies, for tests/accuracy/held-out.sh: nbody N makes N steps. }
program nbody;
const
  Bodies = 8;
var
  x, y, z, u, v, w, m: array[1..Bodies] of double;
  i, j, step, n, code: longint;
  dx, dy, dz, d, f, e: double;
begin
  val(paramstr(1), n, code);
  for i := 1 to Bodies do begin
    x[i] := cos(i * 1.7) * i; y[i] := sin(i * 1.7) * i; z[i] := i / 10 - 0.4;
    u[i] := -sin(i * 1.7) / 2; v[i] := cos(i * 1.7) / 2; w[i] := 0; m[i] := 1 / (i + 1);
  end;
  for step := 1 to n do begin
    for i := 1 to Bodies - 1 do
      for j := i + 1 to Bodies do begin
        dx := x[i] - x[j]; dy := y[i] - y[j]; dz := z[i] - z[j];
        d := dx * dx + dy * dy + dz * dz + 0.01;
        f := 0.001 / (d * sqrt(d));
        u[i] := u[i] - dx * m[j] * f; v[i] := v[i] - dy * m[j] * f; w[i] := w[i] - dz * m[j] * f;
        u[j] := u[j] + dx * m[i] * f; v[j] := v[j] + dy * m[i] * f; w[j] := w[j] + dz * m[i] * f;
      end;
    for i := 1 to Bodies do begin
      x[i] := x[i] + 0.001 * u[i]; y[i] := y[i] + 0.001 * v[i]; z[i] := z[i] + 0.001 * w[i];
    end;
  end;
  e := 0;
  for i := 1 to Bodies do
    e := e + m[i] * (u[i] * u[i] + v[i] * v[i] + w[i] * w[i]) / 2;
  writeln(e:0:9);
end.
