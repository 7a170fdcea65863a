package io.kamille.cache.station;

import io.kamille.cache.key.NormalUri;
import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.rules.TagFields;
import io.kamille.cache.rules.Tags;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a request of a content system asks to have purged, beyond its own URL. {@link PurgeMethod}
 * knows who may ask. Pure.
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
   * It is read as that list, and so is a list without operators. Whatever else could match more than
   * these names is refused, such as a name with a start and no end, an empty one or a dot: a purge
   * that removes less than was asked for, and says 200, is worse than none. In a host a dot may stay,
   * because nobody escapes it.
   *
   * Plug-ins for Varnish send PURGE for a path with a star behind it, as an expression or without
   * saying so. That is a prefix where both ways to read it mean the same. The host is that of the
   * request, at both schemes.
   */
  private static final List<String> WAYS = List.of("X-Purge-Method", "X-VC-Purge-Method");
  private static final String AS_EXPRESSION = "regex";
  private static final Set<String> LITERALLY = Set.of("exact", "default");
  private static final String SOFT = "xkey-softpurge";
  private static final String EVERYTHING = ".*";
  private static final int HOST_LIMIT = 16;

  private static final Map<String, Syntax> USUAL_FIELDS =
      Map.of(
          "xkey",
          Syntax.WORDS,
          "xkey-purge",
          Syntax.WORDS,
          SOFT,
          Syntax.WORDS,
          "Surrogate-Key",
          Syntax.WORDS,
          "Cache-Tag",
          Syntax.TAGS,
          "X-Cache-Tags",
          Syntax.EXPRESSION,
          "X-Magento-Tags-Pattern",
          Syntax.EXPRESSION);

  /** An octet that stands for itself: an escape before a letter is a class of characters. */
  private static final String LITERAL = "[^\\\\^$|?*+()\\[\\]{}.,]|\\\\[^A-Za-z0-9\\\\,]";

  /** What has no operator, and so is a list as CDNs write it. */
  private static final Pattern PLAIN = Pattern.compile("[^\\\\^$|?*+()\\[\\]{}.]*+");

  /** Such as {@code ^/shop/.*}; what begins with two slashes is no path. */
  private static final Pattern PATH =
      Pattern.compile("\\^?(/(?!\\\\?/)(?:" + LITERAL + "|,)*+)(?:\\.\\*)?");

  /** Such as {@code ((^|,)a(,|$))}, of which some may follow, and {@code (a|b)(,.+)?$}. */
  private static final Pattern TAGS =
      list("(?:\\^|\\(\\^\\|,\\))?", LITERAL, "(?:\\(,\\|\\$\\)|(?:\\(,\\.\\+\\)\\?)?\\$)");

  private static final Pattern HOSTS = list("\\^", LITERAL + "|\\.", "\\$");

  /** How a field names tags. */
  private enum Syntax {
    /** Between blanks or commas. */
    WORDS,
    /** Between commas; a {@code BAN} may have an expression there. */
    TAGS,
    EXPRESSION
  }

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
    Map<String, Syntax> syntaxes = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    more.names().forEach(name -> syntaxes.put(name, Syntax.EXPRESSION));
    syntaxes.putAll(USUAL_FIELDS);
    List<String> hard = new ArrayList<>();
    List<String> soft = new ArrayList<>();
    for (var field : syntaxes.entrySet()) {
      String name = field.getKey();
      for (String value : fields.all(name)) {
        boolean isMore = isBan && !PLAIN.matcher(value).matches();
        Syntax syntax =
            isMore && field.getValue() == Syntax.TAGS ? Syntax.EXPRESSION : field.getValue();
        if (!USUAL_FIELDS.containsKey(name)
            && PLAIN.matcher(value).matches()
            && TagFields.areBlankSeparated(name, value)) {
          syntax = Syntax.WORDS;
        }
        if (syntax == Syntax.EXPRESSION && value.equals(EVERYTHING)) {
          return purging(PurgeTarget.all());
        }
        List<String> tags = tags(value, syntax);
        if (tags.isEmpty() || !tags.stream().allMatch(PurgeRequest::isTag)) {
          return refused(name + " has no list of tags");
        }
        (name.equals(SOFT) ? soft : hard).addAll(tags);
      }
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
      return byUrl(fields.all("X-Url"), fields.all("X-Host"));
    }
    return request.methodText().equals("PURGE")
        ? byPattern(request)
        : refused("a field with tags is missing, such as xkey-purge");
  }

  /** A star at the end is meant as a pattern, and tags have none. */
  private static boolean isTag(String name) {
    return Tags.isTag(name) && !name.endsWith("*");
  }

  /** A {@code PURGE} whose URL is a pattern; null if it is meant as it is. */
  private static @Nullable PurgeRequest byPattern(RequestHead request) {
    List<String> ways = WAYS.stream().flatMap(name -> request.fields().all(name).stream()).toList();
    boolean isExpression = ways.stream().anyMatch(AS_EXPRESSION::equalsIgnoreCase);
    String target = request.pathAndQuery();
    if (!isExpression
        && !ways.stream().allMatch(way -> LITERALLY.contains(way.toLowerCase(Locale.ROOT)))) {
      return refused("X-Purge-Method is none of regex, exact and default");
    }
    if (!isExpression
        && (!target.endsWith("*") || ways.stream().anyMatch("exact"::equalsIgnoreCase))) {
      return null;
    }
    String path = isExpression || target.endsWith(EVERYTHING) ? prefix(target) : starless(target);
    String origin = NormalUri.originOf(request);
    String host = origin.substring(origin.indexOf("//") + 2, origin.length() - 1);
    PurgeTarget below = path == null || host.isEmpty() ? null : target(host, path);
    return below == null ? refused("the URL is no prefix such as /shop/.*") : purging(below);
  }

  private static @Nullable String starless(String target) {
    String path = target.substring(0, target.length() - 1);
    return path.indexOf('*') < 0 && path.length() <= PurgeTarget.LENGTH_LIMIT ? path : null;
  }

  /** The URL of a {@code PURGE} that names nothing else; null if it has no host. */
  static @Nullable PurgeRequest ofUrl(RequestHead request) {
    PurgeTarget url = PurgeTarget.url(NormalUri.of(request));
    return url == null ? null : purging(url);
  }

  private static void addTo(List<Order> orders, List<String> tags, boolean isSoft) {
    if (!tags.isEmpty()) {
      orders.add(new Order(PurgeTarget.tags(tags.stream().distinct().toList()), isSoft));
    }
  }

  private static PurgeRequest purging(PurgeTarget target) {
    return new PurgeRequest(List.of(new Order(target, false)), null);
  }

  private static PurgeRequest refused(String why) {
    return new PurgeRequest(List.of(), why);
  }

  // Without tags

  /** A BAN by {@code X-Url} and {@code X-Host}; content types do not narrow it. */
  private static PurgeRequest byUrl(List<String> urls, List<String> hosts) {
    if (urls.size() > 1 || hosts.size() > 1 || urls.size() + hosts.size() == 0) {
      return refused("BAN needs tags, one X-Url or one X-Host");
    }
    String path = urls.isEmpty() ? "/" : prefix(urls.getFirst());
    boolean isAnyHost = hosts.isEmpty() || hosts.getFirst().equals(EVERYTHING);
    List<String> names = isAnyHost ? List.of("") : names(hosts.getFirst(), HOSTS);
    if (path == null || names.isEmpty() || names.size() > HOST_LIMIT) {
      return refused(
          path == null
              ? "X-Url is no prefix such as ^/shop/"
              : "X-Host is no list of at most " + HOST_LIMIT + " hosts");
    }
    List<Order> orders = new ArrayList<>();
    for (String host : names) {
      PurgeTarget target = target(host, path);
      if (target == null) {
        return refused("X-Host or X-Url is no host or path");
      }
      orders.add(new Order(target, false));
    }
    return new PurgeRequest(orders, null);
  }

  /**
   * All below a path of one host, or of all if the host is empty; null if there is no such host.
   */
  private static @Nullable PurgeTarget target(String host, String path) {
    boolean isWhole = path.equals("/");
    if (host.isEmpty()) {
      return isWhole ? PurgeTarget.all() : PurgeTarget.relativePrefix(path);
    }
    PurgeTarget all = PurgeTarget.host(host);
    return all == null || isWhole ? all : PurgeTarget.relativePrefix("//" + host + path);
  }

  private static @Nullable String prefix(String expression) {
    if (expression.equals(EVERYTHING)) {
      return "/";
    }
    Matcher path = PATH.matcher(expression);
    return path.matches() && expression.length() <= PurgeTarget.LENGTH_LIMIT
        ? path.group(1).replace("\\", "")
        : null;
  }

  // Lists

  private static List<String> tags(String value, Syntax syntax) {
    return switch (syntax) {
      case WORDS -> stripped(value.split("[ \t,]+", -1));
      case TAGS -> stripped(value.split(",", -1));
      case EXPRESSION -> expression(value);
    };
  }

  private static List<String> expression(String value) {
    String list = value.replace('|', ',');
    if (!PLAIN.matcher(list).matches()) {
      return names(value, TAGS);
    }
    List<String> names = Stream.of(list.split(",", -1)).map(String::strip).toList();
    return names.contains("") ? List.of() : names;
  }

  private static List<String> stripped(String[] names) {
    return Stream.of(names).map(String::strip).filter(name -> !name.isEmpty()).toList();
  }

  private static Pattern list(String start, String literal, String end) {
    String names = "(?:\\(((?:" + literal + "|\\|)++)\\)|((?:" + literal + ")++))";
    return Pattern.compile("\\G\\(?" + start + names + end + "\\)?(?:\\|(?!\\z)|\\z)");
  }

  /** The names in such an expression; none if it is another one. */
  private static List<String> names(String expression, Pattern list) {
    List<String> names = new ArrayList<>();
    Matcher next = list.matcher(expression);
    int end = 0;
    while (next.find()) {
      String some = next.group(1) == null ? next.group(2) : next.group(1);
      for (String name : some.split("(?<!\\\\)\\|", -1)) {
        names.add(name.replace("\\", "").strip());
      }
      end = next.end();
    }
    return end < expression.length() || names.contains("") ? List.of() : names;
  }
}
