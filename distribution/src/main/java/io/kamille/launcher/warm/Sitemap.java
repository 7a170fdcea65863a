package io.kamille.launcher.warm;

import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** What a sitemap says (sitemaps.org). */
final class Sitemap {

  /*
   * Nothing but the text of loc counts. So no XML parser is needed, and no entity of the document's
   * own is ever resolved.
   */
  private static final Pattern LOC =
      Pattern.compile("<loc>\\s*(?:<!\\[CDATA\\[)?([^<\\]\\s]{1,2048})(?:]]>)?\\s*</loc>");

  private Sitemap() {}

  /** Its URLs, as many as {@code most}. */
  static List<String> urls(String text, int most) {
    return LOC.matcher(text).results().limit(most).map(Sitemap::unescaped).toList();
  }

  /** Whether these are the URLs of other sitemaps. */
  static boolean isIndex(String text) {
    return text.contains("<sitemapindex");
  }

  private static String unescaped(MatchResult loc) {
    return loc.group(1)
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&amp;", "&");
  }
}
