// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.servers;

import java.io.IOException;
import java.io.OutputStream;
import java.util.stream.Stream;

import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingCluster;
import org.apache.curator.test.TestingServer;
import org.h2.tools.Server;

import io.github.lockstarter.testsupport.ServerPort;

/**
 * A JVM with a server that is written in Java, so that its CPU time is not counted as
 * that of its clients.
 */
final class ServerWorker {

	/** A tick of ZooKeeper with which sessions from 2 to 20 seconds are possible. */
	private static final int TICK_MILLIS = 1000;

	private ServerWorker() {
	}

	/**
	 * Start a server, which ends with this JVM.
	 * @return where clients find it
	 */
	static String start(ServerKind kind) throws IOException {
		return Worker.start(ServerWorker.class, kind.name()).await("started")[1];
	}

	public static void main(String[] args) throws Exception {
		System.out.println("started " + run(ServerKind.valueOf(args[0])));
		// The end of the input is the end of the benchmark, even if that was killed
		System.in.transferTo(OutputStream.nullOutputStream());
		System.exit(0);
	}

	private static String run(ServerKind kind) throws Exception {
		switch (kind) {
			case H2:
				return String.valueOf(Server.createTcpServer("-tcpPort", "0", "-ifNotExists").start().getPort());
			case ZOOKEEPER:
				return new TestingServer(spec(), true).getConnectString();
			case ZOOKEEPER_ENSEMBLE:
				TestingCluster cluster = new TestingCluster(Stream.generate(ServerWorker::spec).limit(3).toList());
				cluster.start();
				return cluster.getConnectString();
			default:
				throw new IllegalArgumentException(kind + " has a process of its own");
		}
	}

	private static InstanceSpec spec() {
		return new InstanceSpec(null, ServerPort.find(), ServerPort.find(), ServerPort.find(), true, -1, TICK_MILLIS,
				-1);
	}

}
