package io.kamille.cache.station;

import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.rules.TagFields;
import io.kamille.cache.rules.Tags;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a request of a content system asks to have purged, beyond its own URL. Pure.
 *
 * @param orders what is purged; empty if it is refused
 * @param refusal why it is refused; null if it is not
 */
record PurgeRequest(List<Order> orders, @Nullable String refusal) {

  /*
   * The fields are those of varnish-modules (xkey), FOSHttpCache, Magento 2, Shopware 6 and CDNs.
   * Some write a regular expression, in which only a list of names can vary:
   *
   *   X-Magento-Tags-Pattern: ((^|,)cat_p_1(,|$))|((^|,)cat_p(,|$))
   *   X-Cache-Tags:           (product\-1|shoes)(,.+)?$
   *   X-Host:                 ^(example.org|www\.example\.org)$
   *
   * It is read as that list. Another expression is refused, because a purge that removes less than
   * was asked for, and says 200, is worse than none.
   */
  private static final String EVERYTHING = ".*";

  /** Separated by blanks or commas. */
  private static final Set<String> WORDS = Set.of("xkey", "xkey-purge", "Surrogate-Key");

  private static final String SOFT = "xkey-softpurge";
  private static final String PLAIN = "Cache-Tag";
  private static final Set<String> PATTERNS = Set.of("X-Cache-Tags", "X-Magento-Tags-Pattern");
  private static final String NEVER_LITERAL = "^$|?*+()[]{}";
  private static final int HOST_LIMIT = 16;

  /**
   * One purge.
   *
   * @param isSoft whether it makes stale, and removes nothing
   */
  record Order(PurgeTarget target, boolean isSoft) {}

  /**
   * Reads it; null for a {@code PURGE} that names nothing but its URL.
   *
   * @param more fields with tags besides the usual ones
   */
  static @Nullable PurgeRequest of(RequestHead request, TagFields more) {
    Fields fields = request.fields();
    boolean isBan = request.methodText().equals("BAN");
    Set<String> patterns = new LinkedHashSet<>(PATTERNS);
    more.names().stream().filter(name -> !name.equalsIgnoreCase("xkey")).forEach(patterns::add);
    Set<String> named = new LinkedHashSet<>(WORDS);
    named.add(PLAIN);
    named.addAll(patterns);
    List<String> hard = new ArrayList<>();
    for (String name : named) {
      for (String value : fields.all(name)) {
        boolean isPattern = patterns.contains(name) || (isBan && name.equals(PLAIN));
        if (isPattern && value.equals(EVERYTHING)) {
          return purging(new Order(PurgeTarget.all(), false));
        }
        List<String> tags = isPattern ? list(value, "|,") : words(value, WORDS.contains(name));
        if (!areTags(tags)) {
          return refused(name + " has no list of tags");
        }
        hard.addAll(tags);
      }
    }
    List<String> soft = new ArrayList<>();
    for (String value : fields.all(SOFT)) {
      List<String> tags = words(value, true);
      if (!areTags(tags)) {
        return refused(SOFT + " has no list of tags");
      }
      soft.addAll(tags);
    }
    if (hard.size() + soft.size() > Tags.LIMIT) {
      return refused("more than " + Tags.LIMIT + " tags");
    }
    if (!hard.isEmpty() || !soft.isEmpty()) {
      List<Order> orders = new ArrayList<>();
      addTo(orders, hard, false);
      addTo(orders, soft, true);
      return new PurgeRequest(orders, null);
    }
    if (isBan) {
      return byUrl(fields);
    }
    return request.methodText().equals("PURGE")
        ? null
        : refused("a field with tags is missing, such as xkey-purge");
  }

  private static void addTo(List<Order> orders, List<String> tags, boolean isSoft) {
    if (!tags.isEmpty()) {
      orders.add(new Order(PurgeTarget.tags(tags.stream().distinct().toList()), isSoft));
    }
  }

  private static PurgeRequest purging(Order order) {
    return new PurgeRequest(List.of(order), null);
  }

  private static PurgeRequest refused(String why) {
    return new PurgeRequest(List.of(), why);
  }

  private static boolean areTags(List<String> tags) {
    return !tags.isEmpty() && tags.stream().allMatch(Tags::isTag);
  }

  // Without tags

  /** A BAN by {@code X-Url} and {@code X-Host}; content types do not narrow it. */
  private static PurgeRequest byUrl(Fields fields) {
    List<String> urls = fields.all("X-Url");
    List<String> hosts = fields.all("X-Host");
    if (urls.size() > 1 || hosts.size() > 1 || urls.size() + hosts.size() == 0) {
      return refused("BAN needs tags, one X-Url or one X-Host");
    }
    String prefix = urls.isEmpty() ? "/" : prefix(urls.getFirst());
    if (prefix == null) {
      return refused("X-Url is no prefix such as ^/shop/");
    }
    if (hosts.isEmpty() || hosts.getFirst().equals(EVERYTHING)) {
      PurgeTarget target =
          prefix.equals("/") ? PurgeTarget.all() : PurgeTarget.relativePrefix(prefix);
      return target == null ? refused("X-Url is no path") : purging(new Order(target, false));
    }
    List<String> names = list(hosts.getFirst(), "|");
    if (names.isEmpty() || names.size() > HOST_LIMIT) {
      return refused("X-Host is no list of at most " + HOST_LIMIT + " hosts");
    }
    List<Order> orders = new ArrayList<>();
    for (String host : names) {
      PurgeTarget target =
          prefix.equals("/")
              ? PurgeTarget.host(host)
              : PurgeTarget.relativePrefix("//" + host + prefix);
      if (target == null || PurgeTarget.host(host) == null) {
        return refused("X-Host or X-Url is no host or path");
      }
      orders.add(new Order(target, false));
    }
    return new PurgeRequest(orders, null);
  }

  private static @Nullable String prefix(String expression) {
    if (expression.equals(EVERYTHING)) {
      return "/";
    }
    int start = expression.startsWith("^") ? 1 : 0;
    boolean isOpen = expression.endsWith(EVERYTHING) && !expression.endsWith("\\" + EVERYTHING);
    int end = expression.length() - (isOpen ? EVERYTHING.length() : 0);
    List<String> path = end < start ? List.of() : list(expression.substring(start, end), "");
    boolean isWhole = expression.endsWith("$");
    boolean isPath = path.size() == 1 && path.getFirst().startsWith("/");
    return isPath && !isWhole && path.getFirst().length() <= PurgeTarget.LENGTH_LIMIT
        ? path.getFirst()
        : null;
  }

  // Lists

  private static List<String> words(String value, boolean areBlanksSeparating) {
    return Arrays.stream(value.split(areBlanksSeparating ? "[ \t,]+" : ",", -1))
        .map(String::strip)
        .filter(word -> !word.isEmpty())
        .toList();
  }

  /** The names in such an expression; none if it is another one. */
  private static List<String> list(String expression, String separators) {
    String text = expression.replace("(^|,)", "").replace("(,|$)", "").replace("(,.+)?$", "");
    int start = text.startsWith("^") ? 1 : 0;
    boolean isWhole = text.endsWith("$") && !text.endsWith("\\$");
    int end = text.length() - (isWhole ? 1 : 0);
    List<String> names = new ArrayList<>();
    StringBuilder name = new StringBuilder();
    int depth = 0;
    boolean isGroupClosed = false;
    for (int i = start; i < end; i++) {
      char c = text.charAt(i);
      if (separators.indexOf(c) >= 0) {
        take(name, names);
        isGroupClosed = false;
      } else if (c == '(' && name.isEmpty() && !isGroupClosed) {
        depth++;
      } else if (c == ')' && depth > 0) {
        depth--;
        isGroupClosed = true;
      } else if (isGroupClosed || NEVER_LITERAL.indexOf(c) >= 0) {
        return List.of();
      } else if (c != '\\') {
        name.append(c);
      } else if (++i == end || Character.isLetterOrDigit(text.charAt(i))) {
        return List.of();
      } else {
        name.append(text.charAt(i));
      }
    }
    take(name, names);
    return depth == 0 ? names : List.of();
  }

  private static void take(StringBuilder name, List<String> names) {
    String text = name.toString().strip();
    if (!text.isEmpty()) {
      names.add(text);
    }
    name.setLength(0);
  }
}
