package io.kamille.launcher.acme;

import io.kamille.admin.api.AdminRequest;
import io.kamille.admin.api.Answer;
import io.kamille.admin.api.Operation;
import io.kamille.admin.auth.Scope;
import io.kamille.core.http.StatusCode;
import java.util.List;
import java.util.Optional;
import java.util.function.BiPredicate;
import java.util.function.Supplier;

/** {@code /v1/certificates}: those that are ordered, when next, and why. */
public record CertificateResources(Supplier<Optional<CertificateKeeper>> keeper) {

  private static final String PATH = "/v1/certificates";

  /** All of them. */
  public List<Operation> operations() {
    return List.of(
        Operation.get(PATH, Scope.READ, "The certificates that are ordered, when next, and why.")
            .answers(Certificates.class)
            .by(() -> Answer.json(new Certificates(views()))),
        Operation.post(PATH + "/{name}/renew", Scope.OPERATE, "Orders a new one at once.")
            .takes()
            .by((request, _) -> known(request, CertificateKeeper::renew)),
        Operation.post(
                PATH + "/{name}/try",
                Scope.OPERATE,
                "Orders one at the authority's place for tests, and throws it away.")
            .takes()
            .by((request, _) -> known(request, CertificateKeeper::rehearse)));
  }

  private record Certificates(List<CertificateView> certificates) {}

  private List<CertificateView> views() {
    return keeper.get().map(CertificateKeeper::views).orElse(List.of());
  }

  private Answer known(AdminRequest request, BiPredicate<CertificateKeeper, String> order) {
    String name = request.parameter("name");
    if (views().stream().noneMatch(view -> view.name().equals(name))) {
      return Answer.problem(StatusCode.NOT_FOUND, "No certificate is ordered for this name.");
    }
    return keeper.get().filter(asked -> order.test(asked, name)).isPresent()
        ? Answer.nothing()
        : Answer.problem(
            StatusCode.CONFLICT,
            "Another process orders, another name is tried, or its bound is reached.");
  }
}
