;; A guest of kube-scheduler-wasm-extension that scores a node by the length of its name.
(module
  (import "k8s.io/scheduler" "currentNodeName" (func $node_name (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "score") (result i64)
    ;; The upper half is the score, the lower one the code: 0 is Success.
    (i64.shl
      (i64.extend_i32_u (call $node_name (i32.const 0) (i32.const 1024)))
      (i64.const 32))))
