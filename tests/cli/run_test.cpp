// headroom run with a scripted engine: outcomes, exit codes, files.
#include <nlohmann/json.hpp>

#include "demos/record/ledger.h"
#include "demos/record/recording.h"
#include "tests/cli/support/program.h"
#include "tests/cli/support/recordings.h"
#include "tests/cli/support/with_engine.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::tests;
using nlohmann::json;
using Words = std::vector<std::string>;

TEST_CASE("A run ends with a summary that equals its recording") {
  const TemporaryFolder folder;
  const std::string file = folder / "a.hrec";
  const Ran ran = run_headroom({"run", "train_step", "--set", "batch=2", "seq=64", "--record", file, "--json"},
                               with_engine("completed"));
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  const json summary = json::parse(ran.out);
  CHECK(summary["outcome"] == "completed");
  CHECK(summary["peak_bytes"] == kSmallPeak);
  CHECK(summary["peak_by_category"]["logits"] == 16 * record::kMiB);
  CHECK(summary["params"]["batch"] == 2);
  CHECK(summary["loss"] == 5.25);

  const auto recording = record::Recording::read(file);
  REQUIRE(recording);
  CHECK(record::Ledger(recording.value()).peak().totals.allocated == kSmallPeak);
  CHECK(folder.files() == Words{"a.hrec"});
}

TEST_CASE("The summary as text has a few lines, and progress goes to stderr as plain lines") {
  const Ran ran = run_headroom({"run", "train_step"}, with_engine("completed"));
  CHECK(ran.exit_code == 0);
  for (const char* part : {"train_step: done (CPU, 2 cores)", "peak", "32.00 MiB", "logits", "200", "5.25"})
    CHECK(holds(ran.out, part));
  CHECK_FALSE(holds(ran.err, "\r"));
  CHECK_FALSE(holds(ran.err, "\033"));
}

TEST_CASE("Progress on a terminal is one redrawn line that disappears") {
  RunOptions options = with_engine("cancelled");
  options.terminal = true;
  options.send_interrupt_at = "step 1 of 2";
  const Ran ran = run_headroom({"run", "train_step"}, options);
  INFO(ran.err);
  CHECK(ran.exit_code == 130);
  CHECK(holds(ran.err, "\r\033[K 50 %  step 1 of 2, 1.00 s left"));
  CHECK(holds(ran.err, "\r\033[Kheadroom: Interrupted"));
  CHECK_FALSE(holds(ran.out, "\033"));
}

TEST_CASE("Running out of memory is a result, or exit code 4 with --fail-on-oom") {
  const Ran result = run_headroom({"run", "train_step"}, with_engine("out_of_memory"));
  CHECK(result.exit_code == 0);
  for (const char* part : {"out of memory", "lm_head requested 16.00 MiB", "24.00 MiB"}) CHECK(holds(result.out, part));
  const Ran failure = run_headroom({"run", "train_step", "--fail-on-oom", "--json"}, with_engine("out_of_memory"));
  CHECK(failure.exit_code == 4);
  CHECK(json::parse(failure.out)["outcome"] == "out_of_memory");
}

TEST_CASE("Ctrl-C cancels the run, keeps what it recorded and exits with 130") {
  const TemporaryFolder folder;
  RunOptions options = with_engine("cancelled");
  options.send_interrupt_at = "step 1 of 2";
  const Ran ran = run_headroom({"run", "train_step", "--record", folder / "a.hrec", "--json"}, options);
  INFO(ran.err);
  CHECK(ran.exit_code == 130);
  CHECK(holds(ran.err, "Interrupted"));
  CHECK(json::parse(ran.out)["outcome"] == "cancelled");
  const auto recording = record::Recording::read(folder / "a.hrec");
  REQUIRE(recording);
  CHECK_FALSE(recording.value().events().empty());
  CHECK(recording.value().outcome()->kind == record::OutcomeKind::kCancelled);
  CHECK(folder.files() == Words{"a.hrec"});
}

TEST_CASE("A time limit cancels the run with exit code 5") {
  const Ran ran = run_headroom({"run", "train_step", "--time-limit", "0.3"}, with_engine("cancelled"));
  CHECK(ran.exit_code == 5);
  CHECK(holds(ran.err, "time limit of 0.3 s"));
  CHECK(ran.seconds < 10);
  CHECK(run_headroom({"run", "train_step", "--time-limit", "60"}, with_engine("completed")).exit_code == 0);
}

TEST_CASE("A killed engine costs only the data that it had not sent") {
  const TemporaryFolder folder;
  const Ran ran = run_headroom({"run", "train_step", "--record", folder / "a.hrec", "--json"}, with_engine("killed"));
  CHECK(ran.exit_code == 7);
  CHECK(holds(ran.err, "SIGKILL"));
  CHECK(json::parse(ran.out)["outcome"] == "engine_lost");
  const auto recording = record::Recording::read(folder / "a.hrec");
  REQUIRE(recording);
  CHECK(recording.value().events().size() == small_recording().events().size());
}

TEST_CASE("An engine without a greeting is an engine failure, reported in one sentence") {
  const Ran ran = run_headroom({"run", "train_step"}, with_engine("silent_death"));
  CHECK(ran.exit_code == 7);
  CHECK(ran.err.starts_with("headroom: "));
  CHECK(ran.out.empty());
  CHECK(run_headroom({"run", "train_step", "--engine", "/bin/false"}).exit_code == 7);
}

TEST_CASE("A refused combination exits with 3 and the reason") {
  const Ran ran = run_headroom({"run", "train_step"}, with_engine("refused"));
  CHECK(ran.exit_code == 3);
  CHECK(holds(ran.err, "use an even width"));
}

TEST_CASE("The recording's file is named, unless the run recorded nothing") {
  const TemporaryFolder folder;
  const Words command = {"run", "train_step", "--record", folder / "a.hrec"};
  const Ran first = run_headroom(command, with_engine("completed"));
  CHECK(holds(first.out, "recorded"));
  CHECK(holds(first.out, "a.hrec (" + std::to_string(small_recording().events().size()) + " events, "));
  const std::string file = read_file(folder / "a.hrec");
  const Ran refused = run_headroom(command, with_engine("refused"));
  CHECK(refused.exit_code == 3);
  CHECK_FALSE(holds(refused.out, "recorded"));
  CHECK(read_file(folder / "a.hrec") == file);
}

TEST_CASE("The message without an engine says that stored runs work and how to get an engine") {
  const Ran ran = run_headroom({"run", "train_step"});
  CHECK(ran.exit_code == 3);
  CHECK(holds(ran.err, "/nowhere/headroom-engine"));
}

TEST_CASE("the device cuda without a GPU exits with 3 and the cure") {
  const Ran ran = run_headroom({"run", "train_step", "--device", "cuda"}, with_engine("completed"));
  CHECK(ran.exit_code == 3);
  CHECK(holds(ran.err, "--device cpu"));
  CHECK(ran.out.empty());
  CHECK(run_headroom({"run", "train_step", "--device", "cpu"}, with_engine("completed")).exit_code == 0);
}

TEST_CASE("A data file must exist, not be empty and be UTF-8") {
  const TemporaryFolder folder;
  write_file(folder / "empty.txt", "");
  write_file(folder / "latin1.txt", "caf\xE9");
  write_file(folder / "good.txt", "caf\xC3\xA9 au lait\n");
  const auto run_with = [&](const std::string& name) {
    return run_headroom({"run", "train_step", "--data", folder / name, "--record", folder / "a.hrec"},
                        with_engine("completed"));
  };
  for (const auto& [name, part] :
       {std::pair{"missing.txt", "no data file"}, {"empty.txt", "is empty"}, {"latin1.txt", "UTF-8"}}) {
    const Ran ran = run_with(name);
    INFO(ran.err);
    CHECK(ran.exit_code == 2);
    CHECK(holds(ran.err, part));
    CHECK(holds(ran.err, name));
  }
  CHECK(folder.files() == Words{"empty.txt", "good.txt", "latin1.txt"});
  CHECK(run_with("good.txt").exit_code == 0);
}

TEST_CASE("Paths of save and resume are checked before an engine starts") {
  const TemporaryFolder folder;
  const auto run_with = [&](const Words& settings) {
    Words words{"run", "train_step", "--set"};
    words.insert(words.end(), settings.begin(), settings.end());
    return run_headroom(words, with_engine("completed"));
  };
  Ran ran = run_with({"save=" + folder.path().string()});
  CHECK(ran.exit_code == 6);
  CHECK(holds(ran.err, "nothing is overwritten"));
  ran = run_with({"resume=" + folder.path().string()});
  CHECK(ran.exit_code == 2);
  CHECK(holds(ran.err, "training_state.json does not exist"));
  CHECK(run_with({"save=" + (folder / "new")}).exit_code == 0);
  CHECK(folder.files().empty());  // only a real engine creates the folder
}

TEST_CASE("Ids and tokenizers that cannot be used are refused before an engine starts") {
  const TemporaryFolder folder;
  write_file(folder / "ids.bin", "\xff\xff");
  const Ran ids = run_headroom({"run", "train_step", "--data", folder / "ids.bin"}, with_engine("completed"));
  CHECK(ids.exit_code == 2);
  CHECK(holds(ids.err, "id 65535 at place 0 as uint16, but the model's vocabulary has 4096 tokens"));
  write_file(folder / "config.json",
             R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 1,
                 "num_attention_heads": 2, "vocab_size": 256})");
  write_file(folder / "tokenizer.json", R"({"model": {"type": "Unigram"}})");
  const Ran tokenizer = run_headroom(
      {"run", "train_step", "--set", "model=custom", "weights=" + (folder / "config.json")}, with_engine("completed"));
  CHECK(tokenizer.exit_code == 2);
  CHECK(holds(tokenizer.err, "is a Unigram tokenizer"));
}

TEST_CASE("An ambiguous .bin is refused before an engine starts, and data_type decides") {
  const TemporaryFolder folder;
  write_file(folder / "ids.bin", std::string("\x07\0\0\0\x01\0\0\0", 8));
  const auto run_as = [&](const std::string& type) {
    return run_headroom({"run", "train_step", "--data", folder / "ids.bin", "--set", "data_type=" + type},
                        with_engine("completed"));
  };
  const Ran asked = run_as("auto");
  CHECK(asked.exit_code == 2);
  CHECK(holds(asked.err, "both as uint16 and as uint32; set the type, for example data_type=uint32."));
  CHECK(run_as("uint32").exit_code == 0);
  CHECK(run_as("uint16").exit_code == 0);
  CHECK(run_as("uint24").exit_code == 2);
  const Ran text = run_headroom({"run", "train_step", "--set", "data_type=uint16"}, with_engine("completed"));
  CHECK(text.exit_code == 2);
  CHECK(holds(text.err, "remove data_type"));
}

TEST_CASE("An unloadable checkpoint is bad input, reported before the run") {
  const TemporaryFolder folder;
  const auto run_with = [&](const Words& more) {
    Words words{"run", "train_step", "--set", "weights=" + folder.path().string()};
    words.insert(words.end(), more.begin(), more.end());
    return run_headroom(words, with_engine("completed"));
  };
  Ran ran = run_with({});
  CHECK(ran.exit_code == 2);
  CHECK(holds(ran.err, "config.json cannot be read"));
  write_file(folder / "config.json",
             R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 1,
                 "num_attention_heads": 2, "vocab_size": 256})");
  ran = run_with({});
  CHECK(ran.exit_code == 2);
  CHECK(holds(ran.err, "hidden_size 64, but model=tiny has 256"));
  CHECK(run_headroom({"run", "train_step", "--set", "model=custom", "weights=" + (folder / "config.json")},
                     with_engine("completed"))
            .exit_code == 0);
  write_file(folder / "model.safetensors", "cut");
  ran = run_with({"--set", "model=custom"});
  CHECK(ran.exit_code == 2);
  CHECK(holds(ran.err, folder / "model.safetensors"));
  CHECK(holds(ran.err, "is truncated"));
}

TEST_CASE("An empty, binary or too long kernel source is bad input, and the message says which") {
  const TemporaryFolder folder;
  write_file(folder / "empty.cu", "");
  write_file(folder / "binary.cu", std::string("\x7f"
                                               "ELF\0\n",
                                               6));
  write_file(folder / "long.cu", std::string((1 << 18) + 1, 'x'));
  write_file(folder / "good.cu", "extern \"C\" __global__ void rms_norm() {}\n");
  const auto run_with = [&](const std::string& name) {
    return run_headroom({"run", "edit_kernel", "--set", "source=" + (folder / name)}, with_engine("completed"));
  };
  for (const auto& [name, part] : {std::pair{"missing.cu", "does not exist"},
                                   {"empty.cu", "is empty"},
                                   {"binary.cu", "is a binary file, not text"},
                                   {"long.cu", "is larger than 256 KiB"}}) {
    const Ran ran = run_with(name);
    INFO(ran.err);
    CHECK(ran.exit_code == 2);
    CHECK(holds(ran.err, part));
    CHECK(holds(ran.err, name));
  }
  CHECK(run_with("good.cu").exit_code == 0);
}

TEST_CASE("The optimizer's file must be new and its folder must exist, which is checked before the run") {
  const TemporaryFolder folder;
  write_file(folder / "mine", "mine");
  const auto run_with = [&](const std::string& name, const std::string& where) {
    return run_headroom({"run", "train_step", "--set", "offload.optimizer=" + where, "offload_file=" + (folder / name)},
                        with_engine("completed"));
  };
  for (const auto& [name, part] :
       {std::pair{"mine", "a file with that name exists"}, {"missing/state", "folder does not exist"}}) {
    const Ran ran = run_with(name, "file");
    INFO(ran.err);
    CHECK(ran.exit_code == 6);
    CHECK(holds(ran.err, part));
    CHECK(holds(ran.err, "offload_file"));
  }
  CHECK(run_with("new", "file").exit_code == 0);
  // 52 billion weights per layer: no disk has 8 bytes for each.
  const Ran full = run_headroom({"run", "train_step", "--set", "offload.optimizer=file", "model=custom",
                                 "hidden_size=65536", "intermediate_size=262144", "num_layers=512"},
                                with_engine("completed"));
  INFO(full.err);
  CHECK(full.exit_code == 6);
  CHECK(holds(full.err, "in the folder for temporary files cannot be created: it needs "));
  CHECK(holds(full.err, " are free; choose another one with offload_file."));
  CHECK(run_with("mine", "host").exit_code == 0);  // the file is not used in this mode
  CHECK(read_file(folder / "mine") == "mine");
}

TEST_CASE("The file that bandwidth writes is also checked first") {
  const Ran ran = run_headroom({"run", "bandwidth", "--set", "file=/no/such/folder/x"}, with_engine("killed"));
  CHECK(ran.exit_code == 6);
  CHECK(holds(ran.err, "its folder does not exist; choose another one with file."));
}

TEST_CASE("Control characters in a name do not reach the terminal") {
  const Ran ran = run_headroom({"run", "train_step", "--data", "/no\033[31m\nfile"}, with_engine("completed"));
  CHECK(ran.exit_code == 2);
  CHECK(ran.err == "headroom: There is no data file /no?[31m?file: check the path.\n");
}

TEST_CASE("An unwritable recording is reported before the run") {
  const TemporaryFolder folder;
  write_file(folder / "file", "mine");
  for (const std::string& target : {folder / "file/a.hrec", folder / "missing/a.hrec", folder.path().string()}) {
    const Ran ran = run_headroom({"run", "train_step", "--record", target}, with_engine("completed"));
    INFO(ran.err);
    CHECK(ran.exit_code == 6);
    CHECK(ran.out.empty());
    CHECK(holds(ran.err, target));
  }
  CHECK(folder.files() == Words{"file"});
  CHECK(read_file(folder / "file") == "mine");
}

TEST_CASE("A full disk costs the file, not the run, and keeps the old file") {
  const TemporaryFolder folder;
  write_file(folder / "a.hrec", "the recording of yesterday");
  RunOptions options = with_engine("long");
  options.file_size_limit = 20'000;
  const Ran ran = run_headroom({"run", "train_step", "--record", folder / "a.hrec", "--json"}, options);
  INFO(ran.err);
  CHECK(ran.exit_code == 6);
  CHECK(holds(ran.err, "a.hrec"));
  const json summary = json::parse(ran.out);
  CHECK(summary["outcome"] == "completed");
  CHECK(summary["events"] == large_recording(100'000).events().size());
  CHECK(folder.files() == Words{"a.hrec"});
  CHECK(read_file(folder / "a.hrec") == "the recording of yesterday");
}

TEST_CASE("A traced run has trace in its parameters, and a demo without tracing refuses it") {
  const Ran traced = run_headroom({"run", "train_step", "--trace", "--json"}, with_engine("completed"));
  INFO(traced.err);
  REQUIRE(traced.exit_code == 0);
  CHECK(json::parse(traced.out)["params"]["trace"] == "on");
  const Ran plain = run_headroom({"run", "train_step", "--json"}, with_engine("completed"));
  CHECK(json::parse(plain.out)["params"]["trace"] == "off");
  const Ran refused = run_headroom({"run", "bench", "--trace"}, with_engine("completed"));
  CHECK(refused.exit_code == 2);
  CHECK(holds(refused.err, "remove --trace"));
}

TEST_CASE("the summary of a training step names its prediction, those of other demos do not") {
  const Ran ran = run_headroom({"run", "train_step"}, with_engine("completed"));
  CHECK(holds(ran.out, "  predicted 32.00 MiB: equal to the byte\n"));
  const json summary = json::parse(run_headroom({"run", "train_step", "--json"}, with_engine("completed")).out);
  CHECK(summary["predicted"] == json{{"peak_bytes", kSmallPeak}, {"measured_more_bytes", 0}, {"out_of_memory", false}});
  const Ran other = run_headroom({"run", "block", "--json"}, with_engine("completed"));
  CHECK_FALSE(json::parse(other.out).contains("predicted"));
}
