(* SPDX-License-Identifier: GPL-2.0-or-later *)
(* Lists, maps, matching and exceptions in OCaml, for tests/accuracy/more.sh: colours N D colours N / D / 200 random
   graphs, as native code and as bytecode. *)
module Nodes = Map.Make (Int)
module Words = Map.Make (String)
exception Found of int

let seed = ref 42
let random range = seed := (!seed * 1103515245 + 12345) land 0x7fffffff; !seed lsr 8 mod range

let graph nodes edges =
  let add a b g = Nodes.update a (function None -> Some [ b ] | Some l -> Some (b :: l)) g in
  let rec go g = function
    | 0 -> g
    | k -> let a = random nodes and b = random nodes in go (add a b (add b a g)) (k - 1) in
  go Nodes.empty edges

let first_free used =
  try
    for c = 0 to 1000 do if not (List.mem c used) then raise (Found c) done;
    assert false
  with Found c -> c

let colour g =
  Nodes.fold
    (fun node next colours ->
      let used = List.filter_map (fun n -> Nodes.find_opt n colours) next in
      Nodes.add node (first_free used) colours)
    g Nodes.empty

let () =
  let n = int_of_string Sys.argv.(1) / int_of_string Sys.argv.(2) in
  let total = ref 0 and words = ref Words.empty in
  for _ = 1 to n / 200 do
    let colours = colour (graph 150 400) in
    total := Nodes.fold (fun _ c most -> max c most) colours !total;
    Nodes.iter
      (fun node c ->
        let w = Printf.sprintf "%d-%d" (node mod 50) c in
        words := Words.update w (fun k -> Some (1 + Option.value k ~default:0)) !words)
      colours
  done;
  let most = List.sort (fun (a, x) (b, y) -> compare (y, a) (x, b)) (Words.bindings !words) in
  List.iteri (fun i (w, k) -> if i < 3 then Printf.printf "%s:%d " w k) most;
  Printf.printf "%d %d\n" !total (List.length most)
