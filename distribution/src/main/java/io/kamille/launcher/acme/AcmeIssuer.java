package io.kamille.launcher.acme;

import static java.net.http.HttpResponse.BodyHandlers.limiting;
import static java.net.http.HttpResponse.BodyHandlers.ofString;

import io.kamille.core.client.HttpsPolicy;
import io.kamille.core.tls.SelfSigned;
import io.kamille.core.tls.ServerCertificate;
import io.kamille.core.tls.SystemAuthorities;
import io.kamille.launcher.acme.AcmeSettings.Binding;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.System.Logger.Level;
import java.net.URI;
import java.net.URL;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Redirect;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodySubscribers;
import java.security.KeyPair;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.shredzone.acme4j.AccountBuilder;
import org.shredzone.acme4j.Authorization;
import org.shredzone.acme4j.Identifier;
import org.shredzone.acme4j.Login;
import org.shredzone.acme4j.OrderBuilder;
import org.shredzone.acme4j.Problem;
import org.shredzone.acme4j.RenewalInfo;
import org.shredzone.acme4j.Session;
import org.shredzone.acme4j.Status;
import org.shredzone.acme4j.challenge.Challenge;
import org.shredzone.acme4j.challenge.TokenChallenge;
import org.shredzone.acme4j.connector.Connection;
import org.shredzone.acme4j.connector.DefaultConnection;
import org.shredzone.acme4j.connector.NetworkSettings;
import org.shredzone.acme4j.connector.Resource;
import org.shredzone.acme4j.exception.AcmeException;
import org.shredzone.acme4j.exception.AcmeNetworkException;
import org.shredzone.acme4j.exception.AcmeRateLimitedException;
import org.shredzone.acme4j.exception.AcmeServerException;
import org.shredzone.acme4j.exception.AcmeUnauthorizedException;
import org.shredzone.acme4j.exception.AcmeUserActionRequiredException;
import org.shredzone.acme4j.provider.GenericAcmeProvider;

/** An authority that speaks ACME (RFC 8555), by acme4j. One call at a time; each blocks. */
final class AcmeIssuer implements Issuer {

  private static final System.Logger LOG = System.getLogger("kamille.certificates");
  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(30);
  private static final Duration STEP_LIMIT = Duration.ofMinutes(3);

  /** Most authorities are done by then, and say of others that they take seconds. */
  private static final Duration FIRST_POLL = Duration.ofMillis(300);

  private static final Duration PROBE_LIMIT = Duration.ofSeconds(5);
  private static final long MOST_OCTETS = 1 << 20;
  private static final String ERRORS = "urn:ietf:params:acme:error:";
  private static final Set<String> FOR_OPERATORS =
      Set.of(
          "userActionRequired", "externalAccountRequired", "accountDoesNotExist", "invalidContact");

  private final AcmeSettings settings;
  private final CertificateStore store;
  private final Prover prover;
  private @Nullable Login login;

  /** The authority of these settings, which is not asked before it is needed. */
  AcmeIssuer(AcmeSettings settings, CertificateStore store, Prover prover) {
    this.settings = settings;
    this.store = store;
    this.prover = prover;
  }

  @Override
  public Issued order(Order order) throws Refusal, InterruptedException {
    try {
      Login account = login();
      org.shredzone.acme4j.Order ordered = create(account, order);
      order.said().accept("ordered from " + settings.directory().getHost());
      List<Authorization> authorizations = ordered.getAuthorizations();
      if (authorizations.size() != 1 || !isFor(authorizations.getFirst(), order.name())) {
        throw new Refusal(Refusal.MISUNDERSTOOD, "it wants another name proved");
      }
      if (authorizations.getFirst().getStatus() == Status.PENDING) {
        prove(authorizations.getFirst(), order);
      }
      check(ordered.waitUntilReady(STEP_LIMIT), ordered.getError().orElse(null));
      KeyPair keys = SelfSigned.freshKeys();
      ordered.execute(keys);
      order.said().accept("proved; waiting for the certificate");
      check(ordered.waitForCompletion(STEP_LIMIT), ordered.getError().orElse(null));
      List<X509Certificate> chain = ordered.getCertificate().getCertificateChain();
      if (chain.isEmpty()) {
        throw new Refusal(Refusal.MISUNDERSTOOD, "it has issued nothing");
      }
      return new Issued(chain, keys);
    } catch (AcmeException | IOException | RuntimeException failed) {
      throw refusal(failed);
    }
  }

  @Override
  public @Nullable Window window(X509Certificate certificate) throws Refusal {
    try {
      Login account = login();
      if (account.getSession().resourceUrlOptional(Resource.RENEWAL_INFO).isEmpty()) {
        return null;
      }
      RenewalInfo info = account.bindRenewalInfo(certificate);
      Instant again = info.fetch().orElse(null);
      Instant start = info.getSuggestedWindowStart();
      Instant end = info.getSuggestedWindowEnd();
      return end.isBefore(start) ? null : new Window(start, end, again);
    } catch (AcmeException | IOException | RuntimeException failed) {
      throw refusal(failed);
    }
  }

  private Login login() throws AcmeException, IOException {
    Login known = login;
    if (known == null) {
      var account = new AccountBuilder().useKeyPair(store.accountKey()).agreeToTermsOfService();
      if (settings.contact() != null) {
        account.addEmail(settings.contact());
      }
      if (settings.binding().id() != null && settings.binding().keyFile() != null) {
        account.withKeyIdentifier(
            settings.binding().id(), Binding.key(settings.binding().keyFile()));
      }
      SSLContext trust = SystemAuthorities.context(settings.authority());
      known = account.createLogin(new Session(settings.directory(), new Provider(trust)));
      login = known;
    }
    return known;
  }

  private org.shredzone.acme4j.Order create(Login account, Order order) throws AcmeException {
    boolean tells = account.getSession().resourceUrlOptional(Resource.RENEWAL_INFO).isPresent();
    X509Certificate replaced = tells ? order.replaced() : null;
    try {
      return builder(account, order.name(), replaced).create();
    } catch (AcmeServerException refused) {
      if (replaced == null || !type(refused.getProblem()).equals("alreadyReplaced")) {
        throw refused;
      }
      return builder(account, order.name(), null).create();
    }
  }

  private OrderBuilder builder(Login account, String name, @Nullable X509Certificate replaced) {
    OrderBuilder builder = account.newOrder().identifier(identifier(name));
    if (ServerCertificate.isAddress(name) && AcmeSettings.isPublic(settings.directory())) {
      builder.profile("shortlived");
    }
    if (replaced != null) {
      builder.replaces(replaced);
    }
    return builder;
  }

  private void prove(Authorization authorization, Order order)
      throws AcmeException, IOException, Refusal, InterruptedException {
    Way kind = order.challenge();
    String type = kind.type();
    if (!(authorization.findChallenge(type).orElse(null) instanceof TokenChallenge challenge)) {
      throw new Refusal("malformed", "it does not offer " + type + " for this name");
    }
    String name = withoutWildcard(order.name());
    Proof proof = new Proof(kind, name, token(challenge), challenge.getAuthorization());
    try {
      prover.show(proof, settings.dnsHook());
      order.said().accept("proving the name by " + type);
      if (kind == Way.HTTP_01 && order.replaced() == null) {
        probeFromHere(proof);
      }
      challenge.trigger();
      Thread.sleep(FIRST_POLL);
      Status status = authorization.waitForCompletion(STEP_LIMIT);
      check(status, authorization.findChallenge(type).flatMap(Challenge::getError).orElse(null));
    } finally {
      prover.hide(proof, settings.dnsHook());
    }
  }

  /** What we prove is ours to say, not the authority's: a hook and listeners go by it. */
  private static boolean isFor(Authorization authorization, String name) {
    return authorization.getIdentifier().equals(identifier(withoutWildcard(name)));
  }

  private static Identifier identifier(String name) {
    return ServerCertificate.isAddress(name) ? Identifier.ip(name) : Identifier.dns(name);
  }

  private static String withoutWildcard(String name) {
    return name.startsWith("*.") ? name.substring(2) : name;
  }

  private static String token(TokenChallenge challenge) {
    String authorization = challenge.getAuthorization();
    return authorization.substring(0, authorization.indexOf('.'));
  }

  /** Whether the way to us leads to us. It only warns: the authority may see more than we do. */
  private static void probeFromHere(Proof proof) {
    String host = proof.name().indexOf(':') >= 0 ? "[" + proof.name() + "]" : proof.name();
    URI uri = URI.create("http://" + host + HttpsPolicy.CHALLENGE_PATH + proof.token());
    HttpClient client = HttpClient.newBuilder().connectTimeout(PROBE_LIMIT).build();
    client
        .sendAsync(
            HttpRequest.newBuilder(uri).timeout(PROBE_LIMIT).build(),
            limiting(ofString(), proof.authorization().length()))
        .orTimeout(PROBE_LIMIT.toSeconds(), TimeUnit.SECONDS)
        .handle(
            (answer, failed) -> {
              if (failed != null || !answer.body().equals(proof.authorization())) {
                LOG.log(
                    Level.WARNING,
                    "{0}: seen from here, port 80 does not lead to this process: {1}",
                    proof.name(),
                    failed == null ? "status " + answer.statusCode() : failed.getMessage());
              }
              client.shutdownNow();
              return answer;
            });
  }

  private static void check(Status status, @Nullable Problem problem) throws Refusal {
    if (status == Status.INVALID) {
      throw problem == null
          ? new Refusal("invalid", "it gives no reason")
          : new Refusal(type(problem), detail(problem));
    }
  }

  private static String type(Problem problem) {
    String type = problem.getType().toString();
    return type.startsWith(ERRORS) ? type.substring(ERRORS.length()) : type;
  }

  private static String detail(Problem problem) {
    StringBuilder all = new StringBuilder(problem.getDetail().orElse(type(problem)));
    problem.getSubProblems().forEach(part -> all.append("; ").append(part.getDetail().orElse("")));
    return all.toString();
  }

  private static Refusal refusal(Exception failed) {
    return switch (failed) {
      case AcmeRateLimitedException limited ->
          new Refusal(
              "rateLimited",
              detail(limited.getProblem()),
              false,
              limited.getRetryAfter().orElse(Instant.now().plus(Duration.ofDays(1))));
      case AcmeServerException refused -> {
        String type = type(refused.getProblem());
        boolean isFinal =
            FOR_OPERATORS.contains(type)
                || refused instanceof AcmeUnauthorizedException
                || refused instanceof AcmeUserActionRequiredException;
        yield new Refusal(type, detail(refused.getProblem()), isFinal, null);
      }
      case AcmeNetworkException network -> new Refusal(Refusal.UNREACHABLE, text(network));
      case IOException here -> new Refusal(Refusal.LOCAL, text(here));
      default -> new Refusal(Refusal.MISUNDERSTOOD, text(failed));
    };
  }

  private static String text(Throwable failed) {
    Throwable cause = failed.getCause() == null ? failed : failed.getCause();
    return cause.getMessage() == null ? cause.toString() : cause.getMessage();
  }

  /** How acme4j speaks to it: to no one but by HTTPS, without redirects, within limits. */
  private static final class Provider extends GenericAcmeProvider {

    private final SSLContext trust;

    Provider(SSLContext trust) {
      this.trust = trust;
    }

    @Override
    public HttpClient createHttpClient(NetworkSettings network) {
      network.setTimeout(ANSWER_LIMIT);
      return HttpClient.newBuilder()
          .sslContext(trust)
          .followRedirects(Redirect.NEVER)
          .connectTimeout(ANSWER_LIMIT)
          .build();
    }

    /** To the end of the content: the client's own limit ends with the head. */
    private static BodyHandler<InputStream> octets() {
      return _ -> BodySubscribers.mapping(BodySubscribers.ofByteArray(), ByteArrayInputStream::new);
    }

    @Override
    public Connection connect(URI server, NetworkSettings network, HttpClient client) {
      return new DefaultConnection(createHttpConnector(network, client)) {
        // A clock behind ours names what has passed, which acme4j cannot wait for.
        @Override
        public Optional<Instant> getRetryAfter() {
          Instant soon = Instant.now().plus(FIRST_POLL);
          return super.getRetryAfter().map(at -> at.isBefore(soon) ? soon : at);
        }

        @Override
        protected void sendRequest(Session session, URL url, Consumer<HttpRequest.Builder> body)
            throws IOException {
          if (!url.getProtocol().equals("https")) {
            throw new IOException("it sends us to " + url + ", which is not HTTPS");
          }
          HttpRequest.Builder request = httpConnector.createRequestBuilder(url);
          request.header("Accept-Language", session.getLanguageHeader());
          body.accept(request);
          CompletableFuture<HttpResponse<InputStream>> answer =
              client.sendAsync(request.build(), limiting(octets(), MOST_OCTETS));
          try {
            lastResponse = answer.get(ANSWER_LIMIT.toSeconds(), TimeUnit.SECONDS);
          } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new IOException("we are told to stop", stopped);
          } catch (ExecutionException | TimeoutException failed) {
            answer.cancel(true);
            throw new IOException(text(failed), failed);
          }
        }
      };
    }
  }
}
