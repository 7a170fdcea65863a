package io.kamille.admin.api;

import io.kamille.admin.auth.Scope;
import io.kamille.admin.view.ApplianceView;
import io.kamille.cache.StoredObject;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** {@code GET /v1/cache/objects?url=}: what is stored for a URL, all variants of it. */
final class CacheObjects implements Resource {

  private final ApplianceView appliance;

  CacheObjects(ApplianceView appliance) {
    this.appliance = appliance;
  }

  @Override
  public Operation operation() {
    return Operation.get("/v1/cache/objects", Scope.READ, "All variants that are stored for a URL.")
        .must("url", "The URL.")
        .answers(Document.class);
  }

  @Override
  public Answer answer(AdminRequest request) throws InvalidRequest {
    String url = TargetUrl.of(Query.of(request, operation()).one("url"));
    List<StoredObject> found = appliance.objects(url);
    return Answer.json(new Document(url, found.stream().map(Stored::of).toList()));
  }

  private record Document(String url, List<Stored> objects) {}

  private record Stored(
      int status,
      String state,
      String decision,
      int ageSeconds,
      int ttlSeconds,
      Lifetime freshness,
      boolean noCache,
      boolean mustRevalidate,
      int staleWhileRevalidateSeconds,
      int staleIfErrorSeconds,
      String tier,
      int hits,
      StoredObject.Size bytes,
      List<StoredObject.SelectedBy> selectedBy,
      @Nullable String etag,
      @Nullable String lastModified,
      @Nullable String contentType,
      @Nullable String coding,
      List<StoredObject.Form> forms) {

    static Stored of(StoredObject object) {
      return new Stored(
          object.status(),
          object.isFresh() ? "fresh" : "stale",
          object.decision(),
          object.ageSeconds(),
          object.ttlSeconds(),
          new Lifetime(object.freshness().lifetimeSeconds(), object.freshness().source().token()),
          object.isValidatedAlways(),
          object.isValidatedOnceStale(),
          object.staleWhileRevalidateSeconds(),
          object.staleIfErrorSeconds(),
          object.tier(),
          object.hits(),
          object.size(),
          object.selectedBy(),
          object.entityTag(),
          object.lastModified(),
          object.contentType(),
          object.coding(),
          object.forms());
    }
  }

  private record Lifetime(int lifetimeSeconds, String source) {}
}
