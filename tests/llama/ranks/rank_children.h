// Ranks as processes: this test program again, once per rank, each running one hidden test case.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "demos/protocol/launchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/wait.h"

namespace headroom::tests {

// In a child: its place among the ranks.
inline protocol::RankPlace place_of_child() {
  const auto launch = protocol::read_launch(protocol::environment_variable);
  if (!launch || !launch.value()) throw std::runtime_error("a hidden test case runs only in a child");
  return launch.value()->place;
}

inline std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class RankChildren {
 public:
  RankChildren(const std::string& test_case, int ranks) {
    for (int rank = 0; rank < ranks; ++rank) start(test_case, rank, ranks);
  }
  ~RankChildren() {
    for (int rank = 0; rank < static_cast<int>(pids_.size()); ++rank) {
      kill(rank);
      ended(rank);
    }
  }
  RankChildren(const RankChildren&) = delete;
  RankChildren& operator=(const RankChildren&) = delete;

  // Files of the children.
  std::string file(const std::string& name) const { return folder_ / name; }
  std::string output(int rank) const { return text_of(file("output" + std::to_string(rank))); }

  void kill(int rank) {
    if (pid(rank) != 0) ::kill(pid(rank), SIGKILL);
  }
  // True if the child ends without a failed check.
  bool ended_well(int rank) { return ended(rank) && statuses_[static_cast<std::size_t>(rank)] == 0; }

 private:
  pid_t& pid(int rank) { return pids_[static_cast<std::size_t>(rank)]; }

  void start(const std::string& test_case, int rank, int ranks) {
    std::vector<std::string> variables{"HEADROOM_RANK=" + std::to_string(rank),
                                       "HEADROOM_RANKS=" + std::to_string(ranks),
                                       "HEADROOM_STORE=" + folder_.path().string()};
    std::vector<char*> environment;
    for (char** variable = environ; *variable != nullptr; ++variable) environment.push_back(*variable);
    for (std::string& variable : variables) environment.push_back(variable.data());
    environment.push_back(nullptr);
    std::string program = "/proc/self/exe", name = test_case;
    char* const arguments[] = {program.data(), name.data(), nullptr};
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    const std::string output = file("output" + std::to_string(rank));
    ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT, 0600);
    ::posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    pid_t child = 0;
    const int error = ::posix_spawn(&child, program.c_str(), &actions, nullptr, arguments, environment.data());
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw std::runtime_error("no child process");
    pids_.push_back(child);
    statuses_.push_back(-1);
  }

  // Waits for the child; false if it hangs.
  bool ended(int rank) {
    if (pid(rank) == 0) return true;
    const bool gone = wait_until(
        [&] { return ::waitpid(pid(rank), &statuses_[static_cast<std::size_t>(rank)], WNOHANG) == pid(rank); });
    if (gone) pid(rank) = 0;
    return gone;
  }

  TemporaryFolder folder_;
  std::vector<pid_t> pids_;  // 0: ended
  std::vector<int> statuses_;
};

}  // namespace headroom::tests
