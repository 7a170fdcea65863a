package io.kamille.admin.api;

import io.kamille.admin.auth.Scope;
import io.kamille.cache.rules.Tags;
import io.kamille.core.log.LoopTop;
import io.netty.util.NetUtil;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * {@code /v1/top}: what is asked for most.
 *
 * @param counts about how often lately: octets of URLs, tags and addresses, one per character
 */
public record TopResources(Function<LoopTop.Ranking, Map<String, Long>> counts) {

  private static final int USUAL = 20;
  private static final int MOST = 200;

  /** All of them. */
  public List<Operation> operations() {
    return List.of(
        Operation.get("/v1/top", Scope.READ, "What was asked for most in the last minutes.")
            .may("limit", "How many of each at the most: 1 to 200, 20 if it is not there.")
            .answers(Top.class)
            .by((request, query) -> top(request, query.number("limit", USUAL, MOST))));
  }

  private Answer top(AdminRequest request, int limit) {
    return Answer.json(
        new Top(
            list(LoopTop.Ranking.URLS, request::shown, limit),
            list(LoopTop.Ranking.MISSES, request::shown, limit),
            list(LoopTop.Ranking.TAGS, TopResources::tag, limit),
            list(LoopTop.Ranking.CLIENTS, TopResources::address, limit)));
  }

  private List<Counted> list(LoopTop.Ranking kind, UnaryOperator<String> shown, int limit) {
    Map<String, Long> named = new HashMap<>();
    counts.apply(kind).forEach((key, count) -> named.merge(shown.apply(key), count, Long::sum));
    return named.entrySet().stream()
        .filter(entry -> entry.getValue() > 0)
        .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
        .limit(limit)
        .map(entry -> new Counted(entry.getKey(), entry.getValue()))
        .toList();
  }

  private static byte[] octets(String key) {
    return key.getBytes(StandardCharsets.ISO_8859_1);
  }

  /** The name of a tag, or of a group of RFC 9875 that nobody knows by name its bits. */
  private static String tag(String key) {
    long bits = ByteBuffer.wrap(octets(key)).getLong();
    String name = Tags.nameOf(bits);
    return name == null ? String.format(Locale.ROOT, "#%016x", bits) : name;
  }

  private static String address(String key) {
    return NetUtil.bytesToIpAddress(octets(key));
  }

  private record Top(
      List<Counted> urls, List<Counted> misses, List<Counted> tags, List<Counted> clients) {}

  /**
   * One of them.
   *
   * @param count about how many requests, of which older ones weigh less
   */
  private record Counted(String name, long count) {}
}
