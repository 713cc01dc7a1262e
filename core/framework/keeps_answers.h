// Plugins that keep answers of their own from cycle to cycle.
#ifndef SCHEDSIM_CORE_FRAMEWORK_KEEPS_ANSWERS_H_
#define SCHEDSIM_CORE_FRAMEWORK_KEEPS_ANSWERS_H_

#include <cstddef>

namespace schedsim::framework {

// A plugin that has this has its memory counted, see Framework::AnswerBytes.
class KeepsAnswers {
 public:
  virtual ~KeepsAnswers() = default;
  // What the answers, and what they are made of, take now. The same on every machine: amounts of entries
  // times their sizes, without what tables and allocators add.
  virtual size_t KeptBytes() const = 0;
};

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_KEEPS_ANSWERS_H_
