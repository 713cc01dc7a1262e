;; Prefers the node whose name ends in the digit that the pod's name ends in: it scores 10, all others 0. A
;; configuration with `true` in it turns that around. A pod without a digit gives every node 10.
(module
  (import "k8s.io/scheduler" "currentPod" (func $current_pod (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "currentNodeName" (func $current_node_name (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "get_config" (func $get_config (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "result.cluster_events" (func $cluster_events (param i32 i32)))
  (import "k8s.io/klog" "log" (func $log (param i32 i32 i32)))
  (memory (export "memory") 2)
  ;; An event: resource 1, which is Node, and action 1, which is Add.
  (data (i32.const 0) "\01\00\00\00\01\00\00\00")
  (data (i32.const 16) "the pod has a digit")
  (global $digit (mut i32) (i32.const -1))
  (global $reverse (mut i32) (i32.const 0))

  ;; The digit at the end of a text; -1: there is none.
  (func $last_digit (param $at i32) (param $length i32) (result i32)
    (local $digit i32)
    (if (i32.eqz (local.get $length)) (then (return (i32.const -1))))
    (local.set $digit
      (i32.sub (i32.load8_u (i32.sub (i32.add (local.get $at) (local.get $length)) (i32.const 1)))
               (i32.const 48)))
    (select (local.get $digit) (i32.const -1) (i32.lt_u (local.get $digit) (i32.const 10))))

  ;; Where the bytes of a message's first field begin, which is a message or a text of less than 128 bytes.
  (func $first_field (param $at i32) (result i32)
    (loop $length
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $length (i32.ge_u (i32.load8_u (local.get $at)) (i32.const 128))))
    (i32.add (local.get $at) (i32.const 1)))

  (func (export "_start")
    (local $at i32)
    (local $end i32)
    (local.set $at (i32.const 1024))
    (local.set $end (i32.add (local.get $at) (call $get_config (i32.const 1024) (i32.const 1024))))
    (block $none
      (loop $next
        (br_if $none (i32.ge_u (local.get $at) (local.get $end)))
        (if (i32.eq (i32.load8_u (local.get $at)) (i32.const 116))  ;; The t of `true`.
          (then (global.set $reverse (i32.const 1))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $next))))

  (func (export "enqueue") (call $cluster_events (i32.const 0) (i32.const 8)))

  (func (export "prefilter") (result i32)
    (global.set $digit (i32.const -1))
    (i32.const 0))

  ;; A pod begins with its metadata, and these with the name.
  (func (export "prescore") (result i32)
    (local $name i32)
    (drop (call $current_pod (i32.const 4096) (i32.const 65536)))
    (local.set $name (call $first_field (call $first_field (i32.const 4096))))
    (global.set $digit
      (call $last_digit (local.get $name) (i32.load8_u (i32.sub (local.get $name) (i32.const 1)))))
    (if (i32.ge_s (global.get $digit) (i32.const 0))
      (then (call $log (i32.const 0) (i32.const 16) (i32.const 19))))
    (i32.const 0))

  (func (export "score") (result i64)
    (local $is_match i32)
    (local.set $is_match
      (i32.or
        (i32.lt_s (global.get $digit) (i32.const 0))
        (i32.eq (global.get $digit)
                (call $last_digit (i32.const 1024) (call $current_node_name (i32.const 1024) (i32.const 1024))))))
    (if (i32.ne (local.get $is_match) (global.get $reverse))
      (then (return (i64.const 0xa00000000))))  ;; 10 in the upper half; 0, Success, in the lower one.
    (i64.const 0)))
