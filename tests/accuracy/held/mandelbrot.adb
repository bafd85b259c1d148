--  SPDX-License-Identifier: GPL-2.0-or-later
--  Points of the Mandelbrot set, for tests/accuracy/held-out.sh: mandelbrot N looks at 6 N points.
with Ada.Command_Line, Ada.Text_IO;
procedure Mandelbrot is
   N : constant Positive := Positive'Value (Ada.Command_Line.Argument (1));
   Inside, Steps : Natural := 0;
begin
   for Y in 1 .. N / 25 loop
      for X in 1 .. 150 loop
         declare
            C_Re : constant Long_Float := Long_Float (X) / 60.0 - 2.0;
            C_Im : constant Long_Float := Long_Float (Y) / (Long_Float (N) / 50.0) - 1.0;
            Re, Im, T : Long_Float := 0.0;
            I : Natural := 0;
         begin
            while I < 200 and then Re * Re + Im * Im < 4.0 loop
               T := Re * Re - Im * Im + C_Re;
               Im := 2.0 * Re * Im + C_Im;
               Re := T;
               I := I + 1;
            end loop;
            Steps := Steps + I;
            if I = 200 then
               Inside := Inside + 1;
            end if;
         end;
      end loop;
   end loop;
   Ada.Text_IO.Put_Line (Inside'Image & Steps'Image);
end Mandelbrot;
