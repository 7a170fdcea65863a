package io.kamille.core.answer;

import io.kamille.core.exchange.ErrorPages;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What stands in place of an error of a route.
 *
 * @param body its content, unless {@code file} holds it
 * @param file read when the configuration is loaded; null for {@code body}
 * @param type of the content
 * @param intercept whether it also takes the place of what an origin sends
 */
public record ErrorPageSettings(String body, @Nullable Path file, String type, boolean intercept) {

  private static final int FIRST = 400;
  private static final int LAST = 599;

  public static final Setting<Boolean> INTERCEPT =
      Setting.of(
              "intercept",
              ValueTypes.onOff(),
              "Whether the page also replaces what the origin sends with such a status code. The"
                  + " cache stores the page then.")
          .defaultsTo(false);

  /** The settings of one page. */
  public static final Section<ErrorPageSettings> SECTION =
      Section.of(
              ErrorPageSettings.class,
              ResponseSettings.BODY,
              ResponseSettings.FILE,
              ResponseSettings.TYPE,
              INTERCEPT)
          .checkedBy(ResponseSettings::fileCanBeRead);

  /** Whether {@code name} is a status code of an error, or a class of them. */
  public static boolean isName(String name) {
    return name.matches("[45]([0-9]{2}|xx)");
  }

  /**
   * The pages, read from their files: blocks.
   *
   * @param byName settings by status code ({@code 404}) or class ({@code 5xx})
   * @throws IOException if one cannot be read, or is too large
   */
  public static ErrorPages pages(Map<String, ErrorPageSettings> byName) throws IOException {
    Map<String, ErrorPages.Page> pages = new HashMap<>();
    for (Map.Entry<String, ErrorPageSettings> entry : byName.entrySet()) {
      ErrorPageSettings page = entry.getValue();
      pages.put(entry.getKey(), page.page(ResponseSettings.content(page.file, page.body)));
    }
    return byStatus(pages);
  }

  /** The same without what is in files. */
  public static ErrorPages asWritten(Map<String, ErrorPageSettings> byName) {
    Map<String, ErrorPages.Page> pages = new HashMap<>();
    byName.forEach((name, page) -> pages.put(name, page.page(new byte[0])));
    return byStatus(pages);
  }

  private static ErrorPages byStatus(Map<String, ErrorPages.Page> pages) {
    Map<Integer, ErrorPages.Page> byStatus = new HashMap<>();
    for (int code = FIRST; code <= LAST; code++) {
      ErrorPages.Page page =
          pages.getOrDefault(Integer.toString(code), pages.get(code / 100 + "xx"));
      if (page != null) {
        byStatus.put(code, page);
      }
    }
    return new ErrorPages(byStatus);
  }

  private ErrorPages.Page page(byte[] content) {
    return new ErrorPages.Page(content, type, intercept);
  }
}
