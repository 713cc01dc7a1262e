#include "sim/html/html_page.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "sim/html/page_json.h"
#include "sim/html/page_parts.h"

namespace schedsim::sim {

std::string JsonForScript(absl::string_view json) {
  // Outside of strings, JSON has none of these.
  return absl::StrReplaceAll(json, {{"<", "\\u003c"},
                                    {">", "\\u003e"},
                                    {"&", "\\u0026"},
                                    {"\xE2\x80\xA8", "\\u2028"},
                                    {"\xE2\x80\xA9", "\\u2029"}});
}

std::string HtmlPage(const Page& page) {
  // Nothing may be loaded from anywhere; names of a cluster are only in the data.
  return absl::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<title>schedsim report</title>\n<style>\n",
      kPageStyle,
      "</style>\n</head>\n<body>\n"
      "<noscript><p>This page is drawn by a script that is part of it. It loads nothing from anywhere; "
      "please allow it to run.</p></noscript>\n"
      "<script type=\"application/json\" id=\"data\">",
      JsonForScript(PageJson(page)), "</script>\n<script>\n", kPageScript, "</script>\n</body>\n</html>\n");
}

}  // namespace schedsim::sim
