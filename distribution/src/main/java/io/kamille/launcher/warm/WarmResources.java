package io.kamille.launcher.warm;

import io.kamille.admin.api.AdminRequest;
import io.kamille.admin.api.Answer;
import io.kamille.admin.api.InvalidRequest;
import io.kamille.admin.api.Json;
import io.kamille.admin.api.Operation;
import io.kamille.admin.auth.Scope;
import io.kamille.core.http.StatusCode;
import io.kamille.launcher.warm.WarmProgress.Trouble;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** {@code /v1/cache/warm}: what is fetched before anybody asks for it. */
public final class WarmResources {

  private static final String PATH = "/v1/cache/warm";
  private static final int CONTENT_LIMIT_BYTES = 2 << 20;
  private static final int USUAL_RATE = 10;
  private static final int MOST_RATE = 1000;
  private static final int USUAL_CONCURRENCY = 4;
  private static final int MOST_CONCURRENCY = 64;
  private static final Set<String> MEMBERS =
      Set.of("urls", "sitemap", "purge", "rate", "concurrency");
  private static final String EXPECTED =
      "The content must be an object with exactly one of \"urls\" (1 to "
          + WarmUp.MOST_URLS
          + " strings), \"sitemap\" (a URL) and \"purge\" (the number of a purge), and perhaps"
          + " \"rate\" (1 to "
          + MOST_RATE
          + " requests a second) and \"concurrency\" (1 to "
          + MOST_CONCURRENCY
          + ").";

  private WarmResources() {}

  /** All of them. */
  public static List<Operation> of(WarmUp warmUp) {
    return List.of(
        Operation.post(PATH, Scope.OPERATE, "Fetches URLs, those of a sitemap, or what was purged.")
            .upTo(CONTENT_LIMIT_BYTES)
            .answers(WarmProgress.class)
            .by((request, _) -> start(warmUp, request)),
        Operation.get(PATH, Scope.READ, "How far the last warm-up has come.")
            .answers(WarmProgress.class)
            .by((request, _) -> Answer.json(shown(warmUp.progress(), request))),
        Operation.delete(PATH, Scope.OPERATE, "Ends the warm-up that is under way.")
            .answers(WarmProgress.class)
            .by(
                (request, _) -> {
                  warmUp.stop();
                  return Answer.json(shown(warmUp.progress(), request));
                }));
  }

  private static Answer start(WarmUp warmUp, AdminRequest request) throws InvalidRequest {
    WarmOrder order = order(Json.content(request));
    if (order.purge() != null && !warmUp.knows(order.purge())) {
      return Answer.problem(StatusCode.NOT_FOUND, "No such purge is among the last ones.");
    }
    return warmUp.start(order)
        ? Answer.json(StatusCode.ACCEPTED, shown(warmUp.progress(), request))
        : Answer.problem(StatusCode.CONFLICT, "Another warm-up is under way. End it, or wait.");
  }

  private static WarmProgress shown(WarmProgress progress, AdminRequest request) {
    return progress.with(
        request.shown(progress.of()),
        progress.troubles().stream()
            .map(trouble -> new Trouble(request.shown(trouble.url()), trouble.why()))
            .toList());
  }

  private static WarmOrder order(JsonNode document) throws InvalidRequest {
    if (!document.isObject()
        || !MEMBERS.containsAll(document.propertyNames())
        || count(document, "urls") + count(document, "sitemap") + count(document, "purge") != 1) {
      throw new InvalidRequest(EXPECTED);
    }
    return new WarmOrder(
        urls(document.path("urls")),
        sitemap(document.path("sitemap")),
        purge(document.path("purge")),
        Json.number(document, "rate", USUAL_RATE, MOST_RATE, EXPECTED),
        Json.number(document, "concurrency", USUAL_CONCURRENCY, MOST_CONCURRENCY, EXPECTED));
  }

  private static int count(JsonNode document, String name) {
    return document.has(name) ? 1 : 0;
  }

  private static List<String> urls(JsonNode value) throws InvalidRequest {
    List<String> urls = new ArrayList<>();
    if (!value.isMissingNode()) {
      if (!value.isArray() || value.isEmpty() || value.size() > WarmUp.MOST_URLS) {
        throw new InvalidRequest(EXPECTED);
      }
      for (JsonNode url : value.values()) {
        urls.add(text(url));
      }
    }
    return urls;
  }

  private static @Nullable String sitemap(JsonNode value) throws InvalidRequest {
    return value.isMissingNode() ? null : text(value);
  }

  private static String text(JsonNode value) throws InvalidRequest {
    if (!value.isString()) {
      throw new InvalidRequest(EXPECTED);
    }
    return value.stringValue();
  }

  private static @Nullable Long purge(JsonNode value) throws InvalidRequest {
    if (value.isMissingNode()) {
      return null;
    }
    if (!value.isIntegralNumber() || !value.canConvertToLong()) {
      throw new InvalidRequest(EXPECTED);
    }
    return value.longValue();
  }
}
