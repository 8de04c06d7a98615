// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.embedded;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/**
 * The files by which instances and the {@link ServerHost} of a profile find each other.
 * The operating system unlocks the files of a process that crashes.
 */
record HostFiles(StoreProfile profile, SharedDirectory directory) {

	/**
	 * Open the file that each instance locks as a reader while it uses the servers.
	 */
	FileChannel users() throws IOException {
		return this.directory.open(this.profile.profile() + ".users");
	}

	/**
	 * Open the file that the host locks as long as it runs.
	 */
	FileChannel host() throws IOException {
		return this.directory.open(this.profile.profile() + ".host");
	}

	/**
	 * Return the file with the properties of the running servers.
	 */
	Path properties() {
		return this.directory.resolve(this.profile.profile() + ".properties");
	}

	Path log() {
		return this.directory.resolve(this.profile.profile() + ".log");
	}

}
