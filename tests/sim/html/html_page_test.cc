#include "sim/html/html_page.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "sim/html/page_json.h"
#include "sim/html/run_watch.h"

namespace schedsim::sim {
namespace {

using Json = nlohmann::json;

// What would end the data, start a comment, or break a line of a script.
constexpr char kHostile[] =
    "</script><script>alert(1)</script><!-- ]]> & \" ' \\ \xE2\x80\xA8\xE2\x80\xA9 </SCRIPT";

int CountOf(absl::string_view text, absl::string_view part) {
  int count = 0;
  for (size_t at = text.find(part); at != absl::string_view::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

absl::string_view DataOf(absl::string_view html) {
  constexpr absl::string_view kStart = "<script type=\"application/json\" id=\"data\">";
  const size_t start = html.find(kStart) + kStart.size();
  return html.substr(start, html.find("</script>", start) - start);
}

// What is the same for every run.
std::string WithoutData(absl::string_view html) {
  const absl::string_view data = DataOf(html);
  const auto start = static_cast<size_t>(data.data() - html.data());
  return absl::StrCat(html.substr(0, start), html.substr(start + data.size()));
}

Page HostilePage() {
  Page page;
  page.run.setup = {.inputs = {kHostile}, .seed = 7, .config_yaml = kHostile};
  Report& report = page.run.report;
  report.kubernetes_version = "1.37";
  report.warnings = {kHostile};
  report.pending_by_message = {{.message = kHostile, .count = 1, .pods = {kHostile}}};
  report.pods = {{.name_space = kHostile,
                  .name = kHostile,
                  .node = kHostile,
                  .status = "Pending",
                  .reason = kHostile,
                  .message = kHostile}};
  page.run.nodes = {{.name = kHostile, .zone = kHostile, .pool = kHostile, .amounts = {{.name = kHostile}}}};
  page.run.preemptions = {{.pod = kHostile, .node = kHostile, .victims = std::vector<std::string>{kHostile}}};
  Explanation explanation;
  explanation.pod = kHostile;
  explanation.no_attempt = kHostile;
  page.explanations = {{.message = kHostile, .explanation = explanation}};
  return page;
}

TEST(HtmlPage, DataForAScriptAreTheSameJson) {
  const std::string json = Json({{"a", kHostile}, {kHostile, 1}}).dump();
  const std::string escaped = JsonForScript(json);
  for (const absl::string_view banned : {"<", ">", "&", "\xE2\x80\xA8", "\xE2\x80\xA9"})
    EXPECT_FALSE(absl::StrContains(escaped, banned)) << banned;
  EXPECT_EQ(Json::parse(escaped), Json::parse(json));
}

TEST(HtmlPage, NamesOfTheClusterStayInTheData) {
  const Page page = HostilePage();
  const std::string html = HtmlPage(page);
  EXPECT_EQ(CountOf(html, "<script"), 2);
  EXPECT_EQ(CountOf(html, "</script"), 2);
  EXPECT_EQ(CountOf(html, "</SCRIPT"), 0);
  EXPECT_EQ(CountOf(html, "<!--"), 0);
  const Json data = Json::parse(DataOf(html));
  EXPECT_EQ(data, Json::parse(PageJson(page)));
  EXPECT_EQ(data["run"]["pods"]["name"][0], kHostile);
  EXPECT_EQ(data["run"]["nodes"]["name"][0], kHostile);
  EXPECT_EQ(data["explanations"][0]["message"], kHostile);
  EXPECT_EQ(WithoutData(html), WithoutData(HtmlPage(Page())));
}

TEST(HtmlPage, IsOneFileThatLoadsNothing) {
  const std::string html = HtmlPage(Page());
  EXPECT_TRUE(absl::StartsWith(html, "<!DOCTYPE html>\n"));
  EXPECT_TRUE(absl::StrContains(html, "default-src 'none'"));
  for (const absl::string_view banned : {"src=", "<link", "@import", "url(", "https://", "fetch(",
                                         "XMLHttpRequest", "innerHTML", "eval(", "document.write", "import("})
    EXPECT_FALSE(absl::StrContains(html, banned)) << banned;
  // The name of SVG is an address that nobody asks for.
  EXPECT_EQ(CountOf(html, "http://"), CountOf(html, "http://www.w3.org/2000/svg"));
}

TEST(HtmlPage, HasTheWholeScriptAndStyle) {
  const std::string html = HtmlPage(Page());
  for (const absl::string_view part : {"prefers-color-scheme: dark", "@media print", "class PagedTable",
                                       "class TimeChart", "class NodeMap", "class PodTable", "build();"})
    EXPECT_TRUE(absl::StrContains(html, part)) << part;
}

std::vector<std::string> TextsOf(const std::vector<LatencyRow>& rows) {
  std::vector<std::string> texts;
  for (const LatencyRow& row : rows)
    texts.push_back(absl::StrCat(absl::FormatDuration(row.limit), ": ", row.count));
  return texts;
}

TEST(LatencyRows, GoFromTheFirstToTheLastThatIsNotEmpty) {
  EXPECT_TRUE(LatencyRows({}).empty());
  EXPECT_EQ(TextsOf(LatencyRows({absl::ZeroDuration(), absl::Milliseconds(2), absl::Milliseconds(2)})),
            (std::vector<std::string>{"0: 1", "1ms: 0", "2ms: 2"}));
  EXPECT_EQ(TextsOf(LatencyRows({absl::Milliseconds(30), absl::Milliseconds(50), absl::Milliseconds(51)})),
            (std::vector<std::string>{"50ms: 2", "100ms: 1"}));
  EXPECT_EQ(TextsOf(LatencyRows({absl::Hours(24 * 365)})), std::vector<std::string>{"13888h53m20s: 1"});
}

}  // namespace
}  // namespace schedsim::sim
