package io.kamille.admin.view;

import io.kamille.cache.decision.Explanation;
import org.jspecify.annotations.Nullable;

/**
 * What would become of a request, from its route on.
 *
 * @param route its most specific route, or null if there is none
 * @param explanation what is done, and why
 */
public record RequestExplanation(@Nullable MatchedRoute route, Explanation explanation) {

  /**
   * The route of a request.
   *
   * @param name what log and metrics call it
   * @param host it answers for
   * @param path the beginning of the paths it answers for
   * @param upstream its requests are forwarded to
   * @param cached whether responses may be stored and reused
   */
  public record MatchedRoute(
      String name, String host, String path, String upstream, boolean cached) {}
}
