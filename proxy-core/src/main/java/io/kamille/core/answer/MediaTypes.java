package io.kamille.core.answer;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** The media types of files, by what their names end in. Stateless; any thread. */
public final class MediaTypes {

  private static final String OTHER = "application/octet-stream";

  /** Text is UTF-8 on every machine that makes web pages today. */
  private static final String TABLE =
      """
      text/html; charset=utf-8                html htm
      text/css; charset=utf-8                 css
      text/javascript; charset=utf-8          js mjs
      text/plain; charset=utf-8               txt log
      text/markdown; charset=utf-8            md
      text/csv; charset=utf-8                 csv
      text/calendar; charset=utf-8            ics
      text/vtt; charset=utf-8                 vtt
      application/json                        json map
      application/ld+json                     jsonld
      application/manifest+json               webmanifest
      application/xml                         xml
      application/rss+xml                     rss
      application/atom+xml                    atom
      application/xhtml+xml                   xhtml
      application/wasm                        wasm
      application/pdf                         pdf
      application/zip                         zip
      application/gzip                        gz tgz
      application/zstd                        zst
      application/epub+zip                    epub
      image/svg+xml                           svg
      image/png                               png
      image/jpeg                              jpg jpeg
      image/gif                               gif
      image/webp                              webp
      image/avif                              avif
      image/vnd.microsoft.icon                ico
      image/bmp                               bmp
      image/tiff                              tif tiff
      font/woff2                              woff2
      font/woff                               woff
      font/ttf                                ttf
      font/otf                                otf
      audio/mpeg                              mp3
      audio/ogg                               ogg oga opus
      audio/wav                               wav
      audio/flac                              flac
      audio/mp4                               m4a
      video/mp4                               mp4 m4v
      video/webm                              webm
      video/ogg                               ogv
      video/mp2t                              ts
      video/quicktime                         mov
      application/vnd.apple.mpegurl           m3u8
      application/dash+xml                    mpd
      """;

  private static final Map<String, String> BY_ENDING = new HashMap<>();

  static {
    for (String line : TABLE.split("\n", -1)) {
      int gap = line.indexOf("  ");
      if (gap > 0) {
        for (String ending : line.substring(gap).strip().split(" ", -1)) {
          BY_ENDING.put(ending, line.substring(0, gap));
        }
      }
    }
  }

  private MediaTypes() {}

  /** The value of {@code Content-Type} for a file of that name. */
  static String of(String name) {
    return of(name, OTHER);
  }

  /** The same, or {@code other} if the name says nothing. */
  public static String of(String name, String other) {
    String ending = name.substring(name.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT);
    return BY_ENDING.getOrDefault(ending, other);
  }

  /** Whether files of that type are worth compressing, so that there may be compressed ones. */
  static boolean isCompressible(String type) {
    return type.startsWith("text/")
        || type.contains("json")
        || type.contains("xml")
        || type.equals("application/wasm")
        || type.equals("image/vnd.microsoft.icon")
        || type.equals("font/ttf")
        || type.equals("font/otf");
  }
}
