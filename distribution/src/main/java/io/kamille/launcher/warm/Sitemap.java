package io.kamille.launcher.warm;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The URLs of a sitemap (sitemaps.org), or of an index of sitemaps. Immutable.
 *
 * @param isIndex whether the URLs are those of other sitemaps
 */
record Sitemap(boolean isIndex, List<String> urls) {

  /*
   * Nothing but the text of loc counts. So no XML parser is needed, and no entity of the document's
   * own is ever resolved.
   */
  private static final Pattern LOC =
      Pattern.compile("<loc>\\s*(?:<!\\[CDATA\\[)?([^<\\]\\s]{1,2048})(?:]]>)?\\s*</loc>");

  Sitemap {
    urls = List.copyOf(urls);
  }

  /** Those of the text, as many as {@code most}. */
  static Sitemap of(String text, int most) {
    List<String> urls = new ArrayList<>();
    Matcher loc = LOC.matcher(text);
    while (urls.size() < most && loc.find()) {
      urls.add(unescaped(loc.group(1)));
    }
    return new Sitemap(text.contains("<sitemapindex"), urls);
  }

  private static String unescaped(String text) {
    return text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&amp;", "&");
  }
}
