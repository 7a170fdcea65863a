package io.kamille.cluster.engine;

import io.kamille.cluster.settings.ClusterSettings;
import io.kamille.core.loop.SteadyTask;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jgroups.Address;
import org.jgroups.BytesMessage;
import org.jgroups.JChannel;
import org.jgroups.Message;
import org.jgroups.Receiver;
import org.jgroups.View;
import org.jgroups.conf.ClassConfigurator;
import org.jgroups.protocols.FD_ALL3;
import org.jgroups.protocols.FRAG4;
import org.jgroups.protocols.MERGE3;
import org.jgroups.protocols.MFC;
import org.jgroups.protocols.PerDestinationBundler;
import org.jgroups.protocols.PingData;
import org.jgroups.protocols.TCP;
import org.jgroups.protocols.TCPPING;
import org.jgroups.protocols.UFC;
import org.jgroups.protocols.UNICAST3;
import org.jgroups.protocols.VERIFY_SUSPECT2;
import org.jgroups.protocols.pbcast.GMS;
import org.jgroups.protocols.pbcast.NAKACK2;
import org.jgroups.protocols.pbcast.STABLE;
import org.jgroups.protocols.raft.ELECTION2;
import org.jgroups.protocols.raft.NO_DUPES;
import org.jgroups.protocols.raft.RAFT;
import org.jgroups.protocols.raft.REDIRECT;
import org.jgroups.protocols.raft.RaftHeader;
import org.jgroups.protocols.raft.election.VoteRequest;
import org.jgroups.raft.RaftHandle;
import org.jgroups.raft.StateMachine;
import org.jgroups.stack.Protocol;
import org.jgroups.util.ExtendedUUID;
import org.jgroups.util.UUID;
import org.jspecify.annotations.Nullable;

/** A {@link ClusterEngine} by JGroups and jgroups-raft. Any thread. */
public final class JGroupsEngine implements ClusterEngine {

  /*
   * All of JGroups that is used, and how it is set, is in this package. Of its protocols those are
   * left out that open a port of their own or speak in clear text.
   *
   * A message is an octet that says what it is, for ASK and ANSWER the number of the question, and
   * the content. JGroups keeps the order of the messages of one member; these go without, so that
   * a question that waits keeps nothing up.
   *
   * One thread joins, and leaves and joins again
   *
   *   - if an entry cannot be applied or written: RAFT itself would pass over it
   *   - if this node is alone without a leader although an address of the discovery accepts
   *     connections: others may answer on the connection of an earlier process (JGroups#1032)
   *
   * The log is played again each time, so the state is emptied before.
   *
   * Who votes: a voter that has lost its disk may have agreed to entries that it does not know any
   * more. Two such voters could begin anew, and forget the purges of all. So a voter without its
   * log only follows, and says that its log is not known, until
   *
   *   - it knows all that a majority of the voters has, those alone who vote, or
   *   - all voters are members and none of them has a log: the first start of a cluster. One that
   *     votes already says so, too, as long as it has no entry: the others may not have looked yet.
   *
   * A file beside the log keeps that it may vote, and is lost with the log.
   */
  private static final byte TELL = 0;
  private static final byte ASK = 1;
  private static final byte ANSWER = 2;

  private static final System.Logger LOG = System.getLogger("kamille.cluster");
  private static final int LOG_LIMIT_BYTES = 8 << 20;
  private static final int MESSAGE_LIMIT_BYTES = 8 << 20;
  private static final long SILENT_MILLIS = 8_000;
  private static final long SILENT_CHECK_MILLIS = 2_000;
  private static final long SUSPECTED_MILLIS = 1_000;
  private static final long JOIN_MILLIS = 1_500;
  private static final int JOIN_ATTEMPTS = 5;
  private static final long LEAVE_MILLIS = 500;
  private static final long RESEND_MILLIS = 200;
  private static final int CONNECT_MILLIS = 500;
  private static final int HANDSHAKE_MILLIS = 5_000;
  private static final int MERGE_LEAST_MILLIS = 1_000;
  private static final int MERGE_MOST_MILLIS = 5_000;
  private static final Duration RETRY = Duration.ofSeconds(1);
  private static final Duration CHECK = Duration.ofSeconds(3);
  private static final int CHECKS_ALONE = 2;
  private static final Address NOBODY = UUID.randomUUID();
  private static final Position NOWHERE = new Position(Position.NOT_KNOWN, 0, 0, null);

  private final ClusterSettings settings;
  private final Path directory;
  private final Supplier<List<InetSocketAddress>> hosts;
  private final ReplicatedState state;
  private final Listener listener;
  private final AtomicLong lastQuestion = new AtomicLong();
  private final ConcurrentMap<Long, Question> questions = new ConcurrentHashMap<>();
  private final Thread keeper;
  private volatile @Nullable Membership membership;
  private volatile boolean isClosed;
  private final CountDownLatch isTried = new CountDownLatch(1);
  private volatile String lastRefusal = "";

  /** Where a node of this name was found. */
  private volatile String namesake = "a member";

  /** Answers that are waited for. */
  private static final class Question {

    private final Map<String, byte[]> answers = new HashMap<>();
    private final CompletableFuture<?> complete = new CompletableFuture<>();

    synchronized void answered(String node, byte[] answer) {
      answers.put(node, answer);
    }

    synchronized void expect(Collection<String> nodes) {
      if (answers.keySet().containsAll(nodes)) {
        complete.complete(null);
      }
    }

    synchronized Map<String, byte[]> answers() {
      return Map.copyOf(answers);
    }
  }

  /**
   * Joins the cluster, or begins it. Waits for that as long as a start may.
   *
   * @param directory of the log
   * @param hosts where others may be; asked again and again
   * @throws IOException if the certificates cannot be read, or the address cannot be had
   */
  public static JGroupsEngine join(
      ClusterSettings settings,
      Path directory,
      Supplier<List<InetSocketAddress>> hosts,
      ReplicatedState state,
      Listener listener)
      throws IOException {
    EngineLines.follow();
    MemberTls.context(settings.tls());
    try (ServerSocket free = new ServerSocket()) {
      free.setReuseAddress(true);
      free.bind(settings.bound().socketAddress());
    }
    JGroupsEngine engine = new JGroupsEngine(settings, directory, hosts, state, listener);
    engine.keeper.start();
    try {
      engine.isTried.await(settings.startWait().toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    return engine;
  }

  private JGroupsEngine(
      ClusterSettings settings,
      Path directory,
      Supplier<List<InetSocketAddress>> hosts,
      ReplicatedState state,
      Listener listener) {
    this.settings = settings;
    this.directory = directory;
    this.hosts = hosts;
    this.state = state;
    this.listener = listener;
    keeper =
        Thread.ofVirtual()
            .name("kamille-cluster-keeper")
            .unstarted(
                () ->
                    new SteadyTask(LOG, "the membership was not looked at", this::keep)
                        .repeatUntil(() -> isClosed));
  }

  // Joining, and joining again

  private void keep() {
    int checks = 0;
    while (!isClosed) {
      Membership now = membership;
      if (now == null) {
        checks = 0;
        tryJoin();
        isTried.countDown();
      } else if (!now.isOpen) {
        leave(now);
        continue;
      } else if (!isForgotten(now)) {
        checks = 0;
        if (now.isWithItsVoters()) {
          lastRefusal = "";
        } else {
          refused(
              "cluster.voters: "
                  + settings.voters()
                  + (" (expected: " + now.raft.members() + ", as the log has them)"));
        }
      } else if (++checks == CHECKS_ALONE) {
        refused("others accept connections, and do not find it. It tries again");
        leave(now);
        continue;
      }
      LockSupport.parkNanos((membership == null ? RETRY : CHECK).toNanos());
    }
  }

  private void tryJoin() {
    Membership next = null;
    try {
      next = new Membership();
      state.load(new byte[0]);
      next.channel.connect(settings.name());
      membership = next;
      if (isClosed) {
        leave(next);
      }
    } catch (Throwable refused) {
      // One that could not go on has said why.
      boolean isTold = next != null && !next.isOpen;
      if (next != null) {
        next.stop();
      }
      if (isTold) {
        return;
      }
      refused(
          refused instanceof SecurityException
              ? namesake
                  + (" has the name " + settings.node() + " already. Give this node another one")
              : String.valueOf(refused.getMessage()));
    }
  }

  /** Says why this node is no member, once. */
  private void refused(String reason) {
    if (!reason.equals(lastRefusal)) {
      lastRefusal = reason;
      LOG.log(Level.WARNING, "this node is no member of {0}: {1}", settings.name(), reason);
    }
  }

  private void found(PingData node) {
    if (nodeOf(node.getAddress()).equals(settings.node())) {
      namesake = String.valueOf(node.getPhysicalAddr());
    }
  }

  private void leave(Membership old) {
    membership = null;
    old.close();
  }

  /** Whether others may be there, who do not find this node. */
  private boolean isForgotten(Membership now) {
    if (now.view.size() > 1 || now.raft.leader() != null) {
      return false;
    }
    InetSocketAddress own = settings.bound().socketAddress();
    for (InetSocketAddress host : hosts.get()) {
      if (!host.equals(own)) {
        try (Socket other = new Socket()) {
          other.connect(host, CONNECT_MILLIS);
          return true;
        } catch (IOException away) {
          // As most are that do not answer.
        }
      }
    }
    return false;
  }

  /** RAFT, whose log one thread uses. */
  private static final class Raft extends RAFT {

    Raft() {
      setId(ClassConfigurator.getProtocolId(RAFT.class));
    }

    /** Tells the others soon what is agreed upon. */
    void hurry() {
      offer(new UpRequest(null, null));
    }

    @Override
    public void handleUpRequest(@Nullable Message message, @Nullable RaftHeader header) {
      if (header == null) {
        flushCommitTable();
      } else {
        super.handleUpRequest(message, header);
      }
    }
  }

  /** An election in which this node may be without a vote. */
  private static final class Election extends ELECTION2 {

    private volatile boolean isVoter;

    Election(boolean isVoter) {
      this.isVoter = isVoter;
      setId(ClassConfigurator.getProtocolId(ELECTION2.class));
    }

    @Override
    protected void handleMessage(Message message, RaftHeader header) {
      if (isVoter || !(header instanceof VoteRequest)) {
        super.handleMessage(message, header);
      }
    }
  }

  /** Discovery by what Kamille has looked up, anew each time. */
  private static final class Discovered extends TCPPING {

    private final Supplier<List<InetSocketAddress>> hosts;
    private final Consumer<PingData> found;

    Discovered(Supplier<List<InetSocketAddress>> hosts, Consumer<PingData> found) {
      this.hosts = hosts;
      this.found = found;
      setId(ClassConfigurator.getProtocolId(TCPPING.class));
    }

    @Override
    public void findMembers(
        @Nullable List<Address> members, boolean isFirst, org.jgroups.util.Responses responses) {
      setInitialHosts(hosts.get());
      super.findMembers(members, isFirst, responses);
    }

    @Override
    protected void handleDiscoveryResponse(@Nullable PingData data, Address sender) {
      if (data != null) {
        found.accept(data);
      }
      super.handleDiscoveryResponse(data, sender);
    }
  }

  /** Ends something. */
  private interface Stop {

    void run() throws Exception;
  }

  /** From a join until this node leaves. */
  private final class Membership implements Receiver, StateMachine {

    private final MemberLog file;
    private final MemberSockets sockets;
    private final Election election;
    private final Raft raft = new Raft();
    private final JChannel channel;
    private final RaftHandle log;
    private volatile View view = View.create(NOBODY, 0);
    private volatile boolean isOpen = true;

    Membership() throws Exception {
      file = MemberLog.open(directory, this::fault);
      election = new Election(file.isVoter());
      InetSocketAddress address = settings.bound().socketAddress();
      TCP tcp = new TCP();
      tcp.setBindAddr(address.getAddress()).setBindPort(address.getPort()).setPortRange(0);
      tcp.setClientBindAddr(address.getAddress())
          .tcpNodelay(true)
          .setSockConnTimeout(CONNECT_MILLIS)
          .setPeerAddrReadTimeout(HANDSHAKE_MILLIS)
          .enableSuspectEvents(true)
          .setMaxLength(MESSAGE_LIMIT_BYTES);
      // One thread for each: a process that stands still accepts connections, and answers none.
      tcp.setBundler(new PerDestinationBundler().useSingleSenderThread(false));
      sockets =
          new MemberSockets(
              MemberTls.context(settings.tls()), HANDSHAKE_MILLIS, Thread::startVirtualThread);
      tcp.setSocketFactory(sockets);
      raft.raftId(settings.node())
          .members(settings.voters())
          .log(file)
          .logUseFsync(true)
          .sendCommitsImmediately(false)
          .resendInterval(RESEND_MILLIS)
          .maxLogSize(LOG_LIMIT_BYTES);
      channel =
          new JChannel(
              tcp,
              new Discovered(hosts, JGroupsEngine.this::found).portRange(0).numDiscoveryRuns(3),
              new MERGE3().setMinInterval(MERGE_LEAST_MILLIS).setMaxInterval(MERGE_MOST_MILLIS),
              new FD_ALL3().setTimeout(SILENT_MILLIS).setInterval(SILENT_CHECK_MILLIS),
              new VERIFY_SUSPECT2().setTimeout(SUSPECTED_MILLIS),
              new NAKACK2().useMcastXmit(false),
              new UNICAST3(),
              new STABLE(),
              new NO_DUPES(),
              new GMS()
                  .printLocalAddress(false)
                  .joinTimeout(JOIN_MILLIS)
                  .setMaxJoinAttempts(JOIN_ATTEMPTS)
                  .setLeaveTimeout(LEAVE_MILLIS),
              new UFC(),
              new MFC(),
              new FRAG4(),
              election,
              raft,
              new REDIRECT());
      channel.setName(settings.node());
      channel.setReceiver(this);
      log = new RaftHandle(channel, this);
    }

    void close() {
      synchronized (this) {
        isOpen = false;
      }
      channel.close();
      file.close();
    }

    /** Closes what JGroups leaves open if it could not connect. */
    void stop() {
      close();
      for (Protocol protocol : channel.getProtocolStack().getProtocols()) {
        quietly(protocol::stop);
        quietly(protocol::destroy);
      }
      quietly(sockets::close);
    }

    private static void quietly(Stop action) {
      try {
        action.run();
      } catch (Exception notStarted) {
        LOG.log(Level.DEBUG, "nothing is to be stopped: {0}", notStarted.getMessage());
      }
    }

    private void fault(String reason) {
      refused(reason);
      isOpen = false;
      if (raft.isLeader()) {
        // Or its next entry has the number of this one.
        raft.setLeaderAndTerm(null);
      }
      LockSupport.unpark(keeper);
    }

    // The state as RAFT knows it

    @Override
    public synchronized byte[] apply(byte[] octets, int offset, int length, boolean isAnswered) {
      if (!isOpen) {
        throw new IllegalStateException("no entry is applied after one that could not be");
      }
      try {
        return state.apply(MemberLog.opened(Arrays.copyOfRange(octets, offset, offset + length)));
      } catch (Throwable refused) {
        fault("an entry of the log cannot be applied: " + refused.getMessage());
        throw new IllegalStateException(refused);
      }
    }

    @Override
    public synchronized void readContentFrom(DataInput in) throws IOException {
      byte[] saved = new byte[in.readInt()];
      in.readFully(saved);
      try {
        state.load(saved);
      } catch (Throwable refused) {
        fault("a snapshot of the log cannot be read: " + refused.getMessage());
        throw refused;
      }
    }

    @Override
    public void writeContentTo(DataOutput out) throws IOException {
      byte[] saved = state.save();
      out.writeInt(saved.length);
      out.write(saved);
    }

    // Messages

    @Override
    public void receive(Message message) {
      try {
        received(message);
      } catch (RuntimeException hostile) {
        LOG.log(Level.WARNING, "a message of {0} is no good: {1}", message.getSrc(), hostile);
      }
    }

    private void received(Message message) {
      ByteBuffer in = ByteBuffer.wrap(message.getArray(), message.getOffset(), message.getLength());
      Address from = message.getSrc();
      switch (in.get()) {
        case TELL -> listener.told(nodeOf(from), rest(in));
        case ASK -> {
          long question = in.getLong();
          listener.asked(nodeOf(from), rest(in), answer -> send(from, ANSWER, question, answer));
        }
        case ANSWER -> {
          Question question = questions.get(in.getLong());
          if (question != null) {
            question.answered(nodeOf(from), rest(in));
            question.expect(members());
          }
        }
        default -> {}
      }
    }

    @Override
    public void viewAccepted(View next) {
      view = next;
      listener.members(members());
      questions.values().forEach(question -> question.expect(members()));
    }

    List<String> members() {
      List<String> nodes = new ArrayList<>();
      for (Address member : view.getMembersRaw()) {
        nodes.add(nodeOf(member));
      }
      return nodes;
    }

    void send(@Nullable Address to, byte kind, long question, byte[] content) {
      byte[] octets = new byte[1 + (kind == TELL ? 0 : Long.BYTES) + content.length];
      ByteBuffer out = ByteBuffer.wrap(octets).put(kind);
      if (kind != TELL) {
        out.putLong(question);
      }
      out.put(content);
      try {
        channel.send(new BytesMessage(to, octets).setFlag(Message.Flag.OOB));
      } catch (Exception lost) {
        // A member that is told nothing is not current before long.
        LOG.log(Level.DEBUG, "message is lost: {0}", lost.getMessage());
      }
    }

    boolean isWithItsVoters() {
      return Set.copyOf(raft.members()).equals(Set.copyOf(settings.voters()));
    }

    Position position() {
      Address leader = log.leader();
      long applied = raft.commitIndex();
      long appended = raft.lastAppended();
      return new Position(
          election.isVoter && appended > 0 ? appended : Position.NOT_KNOWN,
          isOpen && isWithItsVoters() ? applied : 0,
          raft.currentTerm(),
          leader == null ? null : nodeOf(leader));
    }
  }

  /** Whose votes the log in that directory stands on; nobody's if it says nothing. */
  public static List<String> voters(Path log) {
    return MemberLog.voters(log);
  }

  private static byte[] rest(ByteBuffer in) {
    byte[] rest = new byte[in.remaining()];
    in.get(rest);
    return rest;
  }

  private static String nodeOf(@Nullable Address address) {
    byte[] name = address instanceof ExtendedUUID named ? named.get(RAFT.raft_id_key) : null;
    return name == null ? String.valueOf(address) : new String(name, StandardCharsets.UTF_8);
  }

  @Override
  public Position position() {
    Membership now = membership;
    return now == null ? NOWHERE : now.position();
  }

  /** The channel of now; null while this node is no member. */
  @Nullable JChannel channel() {
    Membership now = membership;
    return now == null ? null : now.channel;
  }

  @Override
  public String problem() {
    return lastRefusal;
  }

  @Override
  public long logBytes() {
    Membership now = membership;
    return now == null ? 0 : now.raft.logSizeInBytes();
  }

  @Override
  public List<String> members() {
    Membership now = membership;
    return now == null ? List.of() : now.members();
  }

  @Override
  public void tell(byte[] message) {
    Membership now = membership;
    if (now != null) {
      now.send(null, TELL, 0, message);
    }
  }

  @Override
  public Map<String, byte[]> ask(byte[] message, Duration limit) {
    long number = lastQuestion.incrementAndGet();
    Question question = new Question();
    questions.put(number, question);
    Membership now = membership;
    try {
      if (now == null) {
        String own = settings.node();
        listener.asked(own, message, answer -> question.answered(own, answer));
      } else {
        now.send(null, ASK, number, message);
        question.complete.get(limit.toNanos(), TimeUnit.NANOSECONDS);
      }
    } catch (TimeoutException | ExecutionException late) {
      // What came is what counts.
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    } finally {
      questions.remove(number);
    }
    return question.answers();
  }

  @Override
  public byte @Nullable [] append(byte[] entry, Duration limit) {
    try {
      state.check(entry);
    } catch (IOException unreadable) {
      throw new IllegalArgumentException(unreadable);
    }
    Membership now = membership;
    if (now == null) {
      return null;
    }
    byte[] sealed = MemberLog.sealed(entry);
    try {
      return now.log.setAsync(sealed, 0, sealed.length).get(limit.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return null;
    } catch (Exception refused) {
      return null;
    }
  }

  @Override
  public void hurry() {
    Membership now = membership;
    if (now != null && now.raft.isLeader()) {
      now.raft.hurry();
    }
  }

  @Override
  public void vote() {
    Membership now = membership;
    if (now != null && !now.election.isVoter) {
      try {
        now.file.makeVoter(settings.voters());
        now.election.isVoter = true;
      } catch (IOException refused) {
        LOG.log(Level.WARNING, "this node cannot vote: {0}", refused.getMessage());
      }
    }
  }

  @Override
  public void close() {
    isClosed = true;
    keeper.interrupt();
    Membership now = membership;
    if (now != null) {
      leave(now);
    }
    Set.copyOf(questions.values()).forEach(question -> question.complete.complete(null));
  }
}
