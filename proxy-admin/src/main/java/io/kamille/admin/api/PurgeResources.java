package io.kamille.admin.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.kamille.admin.auth.Scope;
import io.kamille.cache.CacheOperations;
import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.removal.PurgeReport;
import io.kamille.cache.rules.Tags;
import io.kamille.cluster.Cluster;
import io.kamille.cluster.log.PurgeReceipt;
import io.kamille.core.http.StatusCode;
import java.lang.System.Logger.Level;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** {@code /v1/cache/purges}: purges, and how far they have come. */
public final class PurgeResources {

  private static final System.Logger LOG = System.getLogger("kamille.admin");

  /** How long the control plane waits for the disk before it answers all the same. */
  private static final long KEPT_LIMIT_SECONDS = 5;

  static final String PATH = "/v1/cache/purges";
  private static final String FULL = "Eight dry runs are not counted yet. Try again.";
  private static final String LEFT =
      "The purge is not in the log yet: another process takes the place of this one. Repeat it.";
  private static final String EXPECTED =
      "The content must be an object with exactly one of \"url\", \"prefix\", \"host\" (strings),"
          + " \"tags\" (an array of strings) and \"all\" (true), and perhaps \"mode\" (\"hard\" or"
          + " \"soft\") and \"dry_run\" (true or false).";
  private static final String NO_HOST =
      "host must be a host as in a URL, with a port from 0 to 65535 behind it at most.";
  private static final String TOO_LONG =
      " must have " + PurgeTarget.LENGTH_LIMIT + " octets at the most.";
  private static final String NO_WILDCARD =
      " must name one host: * stands for nothing. Name each host by itself, or purge by tags.";
  private static final Pattern WILDCARD_HOST = Pattern.compile("[^/?]*//[^/?*]*\\*");
  private static final String NO_TAGS =
      "tags must be 1 to "
          + Tags.LIMIT
          + " strings of 1 to "
          + Tags.LENGTH_LIMIT
          + " characters of ASCII, without comma.";

  private PurgeResources() {}

  /**
   * All of them.
   *
   * @param cluster the nodes that this one is a cluster with; null if there are none
   */
  public static List<Operation> of(CacheOperations cache, Supplier<@Nullable Cluster> cluster) {
    return List.of(
        Operation.post(PATH, Scope.PURGE, "Purges by URL, prefix, host or tag, or everything.")
            .laterWhile(() -> cluster.get() != null)
            .by(
                (request, _) ->
                    purge(
                        cache,
                        cluster.get(),
                        order(Json.content(request, Content.class, EXPECTED)))),
        Operation.get(PATH, Scope.READ, "The last purges and how far they have come.")
            .by(
                (request, _) ->
                    Answer.json(
                        Map.of(
                            "purges",
                            cache.purges().recent().stream()
                                .map(report -> present(report, request))
                                .toList()))));
  }

  private static Answer purge(CacheOperations cache, @Nullable Cluster cluster, Order order) {
    if (cluster != null && !order.isDryRun()) {
      return Answer.later(() -> everywhere(cluster, order));
    }
    if (order.isDryRun()) {
      return dryRun(cache.purges().count(order.target(), order.isSoft()));
    }
    PurgeReport report = cache.purges().purge(order.target(), order.isSoft());
    return Answer.later(
        () -> {
          if (!isKept(cache.purges()::whenKept, KEPT_LIMIT_SECONDS)) {
            LOG.log(
                Level.WARNING,
                "a purge holds, but the disk has not taken it down within {0} s: a kill now would"
                    + " undo it for what is on the disk",
                KEPT_LIMIT_SECONDS);
          }
          return Answer.json(begun(report));
        });
  }

  static Answer dryRun(@Nullable PurgeReport report) {
    return report == null
        ? Answer.problem(StatusCode.SERVICE_UNAVAILABLE, FULL).with("Retry-After", "1")
        : Answer.json(begun(report));
  }

  /** Whether the disk has taken everything down within that time. */
  static boolean isKept(Consumer<Runnable> whenKept, long limitSeconds) {
    CountDownLatch isKept = new CountDownLatch(1);
    whenKept.accept(isKept::countDown);
    try {
      return isKept.await(limitSeconds, TimeUnit.SECONDS);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Purges at all nodes. Waits for them. */
  private static Answer everywhere(Cluster cluster, Order order) {
    PurgeReceipt receipt =
        cluster.purges().purge(order.target().kind(), order.target().names(), order.isSoft());
    List<NodeDone> nodes =
        receipt.nodes().stream()
            .map(at -> new NodeDone(at.node(), at.isDone() ? "done" : "away", at.purged()))
            .toList();
    if (!receipt.isLogged()) {
      String detail = cluster.purges().hasLeft() ? LEFT : "The purge is not in the log yet.";
      return Answer.problem(ProblemType.NO_QUORUM, detail, nodes).with("Retry-After", "1");
    }
    return Answer.json(
        receipt.status(),
        new Everywhere(
            receipt.number(),
            receipt.isComplete() ? "done" : "away",
            receipt.isComplete(),
            receipt.safeIn() == null ? null : receipt.safeIn().toSeconds() + "s",
            nodes));
  }

  /** The answer about a purge at several nodes. */
  private record Everywhere(
      long id, String state, boolean complete, @Nullable String safeIn, List<NodeDone> nodes) {}

  private record NodeDone(String node, String state, long purged) {}

  private static Map<String, Object> begun(PurgeReport report) {
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("id", report.id());
    answer.put("state", report.state());
    if (report.state() == PurgeReport.Progress.DONE) {
      answer.put(counted(report), report.responses());
    }
    return answer;
  }

  /** A purge with all that who asks may know of it. */
  private static Map<String, Object> present(PurgeReport report, AdminRequest request) {
    Map<String, Object> purge = new LinkedHashMap<>();
    purge.put("id", report.id());
    purge.put("kind", report.target().kind());
    purge.put("of", request.shown(report.target().shown()));
    purge.put("mode", report.isSoft() ? "soft" : "hard");
    purge.put("time", Instant.ofEpochSecond(report.epochSeconds()).toString());
    purge.put("state", report.state());
    purge.put(counted(report), report.responses());
    return purge;
  }

  private static String counted(PurgeReport report) {
    return report.isDryRun() ? "matched" : "purged";
  }

  // What the content asks for

  /**
   * What is to be purged.
   *
   * @param isSoft whether it is to be made stale, not removed
   * @param isDryRun whether it is only to be counted
   */
  private record Order(PurgeTarget target, boolean isSoft, boolean isDryRun) {}

  private record Content(
      @Nullable String url,
      @Nullable String prefix,
      @Nullable String host,
      @Nullable JsonNode tags,
      @Nullable Boolean all,
      @Nullable String mode,
      @JsonProperty("dry_run") @Nullable Boolean isDryRun) {}

  private static Order order(Content content) throws InvalidRequest {
    boolean isSoft = "soft".equals(content.mode);
    boolean isOther = !isSoft && content.mode != null && !content.mode.equals("hard");
    long targets =
        Stream.of(content.url, content.prefix, content.host, content.tags, content.all)
            .filter(Objects::nonNull)
            .count();
    if (isOther || targets != 1) {
      throw new InvalidRequest(EXPECTED);
    }
    return new Order(target(content), isSoft, Boolean.TRUE.equals(content.isDryRun));
  }

  private static PurgeTarget target(Content content) throws InvalidRequest {
    if (content.url != null) {
      return found(PurgeTarget.url(uri("url", content.url)), Query.noUrl("url", content.url));
    }
    if (content.prefix != null) {
      String prefix = shortText("prefix", uri("prefix", content.prefix));
      return found(PurgeTarget.prefix(prefix), Query.noUrl("prefix", prefix));
    }
    if (content.host != null) {
      return found(PurgeTarget.host(shortText("host", host(content.host))), NO_HOST);
    }
    return content.tags != null
        ? PurgeTarget.tags(tags(content.tags))
        : found(Boolean.TRUE.equals(content.all) ? PurgeTarget.all() : null, EXPECTED);
  }

  private static PurgeTarget found(@Nullable PurgeTarget target, String otherwise)
      throws InvalidRequest {
    if (target == null) {
      throw new InvalidRequest(otherwise);
    }
    return target;
  }

  private static String host(String host) throws InvalidRequest {
    if (host.indexOf('*') >= 0) {
      throw new InvalidRequest("host" + NO_WILDCARD);
    }
    return host;
  }

  private static String uri(String name, String uri) throws InvalidRequest {
    if (uri.indexOf('#') >= 0) {
      throw new InvalidRequest(name + " must have no fragment: it is never sent in a request.");
    }
    oneHost(name, uri);
    return uri;
  }

  /** Refuses a URI whose host has a {@code *}. */
  static void oneHost(String name, String uri) throws InvalidRequest {
    if (WILDCARD_HOST.matcher(uri).lookingAt()) {
      throw new InvalidRequest(name + NO_WILDCARD);
    }
  }

  private static String shortText(String name, String text) throws InvalidRequest {
    if (text.length() > PurgeTarget.LENGTH_LIMIT) {
      throw new InvalidRequest(name + TOO_LONG);
    }
    return text;
  }

  private static List<String> tags(JsonNode value) throws InvalidRequest {
    if (!value.isArray()) {
      throw new InvalidRequest(NO_TAGS);
    }
    List<String> tags = new ArrayList<>();
    for (JsonNode tag : value.values()) {
      if (!tag.isString()) {
        throw new InvalidRequest(EXPECTED);
      }
      tags.add(tag.stringValue());
    }
    if (tags.isEmpty() || tags.size() > Tags.LIMIT || !tags.stream().allMatch(Tags::isTag)) {
      throw new InvalidRequest(NO_TAGS);
    }
    return tags;
  }
}
