// SPDX-License-Identifier: Apache-2.0

import { toLink } from "./link.js";

/** The form in which a run is chosen. */

const families = { jvm: "Locks inside one JVM, or none", database: "The database itself", "naive-redis": "Redis, by hand",
	library: "Other libraries", "distributed-lock": "The locks of this project" };

const form = document.getElementById("form");

const limited = ["instances", "users", "stock"];

/** Shows the choices that the shop offers; calls the listener after each change. */
export function showChoices(info, changed) {
	const list = document.getElementById("strategies");
	for (const family of new Set(info.strategies.map((strategy) => strategy.family))) {
		const section = familySection(family, info.strategies.filter((strategy) => strategy.family === family));
		section.append(...info.missing.filter((strategy) => strategy.family === family).map(missingOption));
		list.append(section);
	}
	showProfiles(info.missing);
	document.getElementById("faults").append(...info.faults.map((fault) => option("radio", "fault", fault)));
	for (const name of limited) {
		form.elements[name].max = info.limits[name];
	}
	form.addEventListener("input", () => {
		update(info.limits);
		changed();
	});
}

export function setChoices(request, info) {
	const strategies = new Set(request.strategies);
	form.querySelectorAll("[name=strategies]").forEach((box) => {
		box.checked = strategies.has(box.value);
	});
	form.elements.fault.value = request.fault;
	for (const name of limited) {
		form.elements[name].value = request[name];
	}
	update(info.limits);
}

export function getChoices() {
	const data = new FormData(form);
	return { strategies: data.getAll("strategies"), ...Object.fromEntries(limited.map((name) => [name, Number(data.get(name))])),
		fault: data.get("fault") };
}

/** Why these choices cannot be run, or nothing. */
export function complaint() {
	if (!getChoices().strategies.length) {
		return { text: "Choose at least one strategy.", input: form.querySelector("[name=strategies]") };
	}
	for (const input of limited.map((name) => form.elements[name])) {
		if (!input.checkValidity()) {
			return { text: `${input.labels[0].firstChild.textContent.trim()}: choose a number from ${input.min} to ${input.max}.`,
				input };
		}
	}
	return null;
}

function update({ strategies: limit }) {
	const boxes = [...form.querySelectorAll("[name=strategies]")];
	const chosen = boxes.filter((box) => box.checked).length;
	boxes.forEach((box) => {
		box.disabled = chosen >= limit && !box.checked;
	});
	document.getElementById("chosen").textContent = `${chosen} chosen, at most ${limit}, one after the other`;
	document.getElementById("link").href = toLink(getChoices());
}

function familySection(family, strategies) {
	const section = document.createElement("section");
	const title = document.createElement("h3");
	title.textContent = families[family] ?? family;
	section.append(title, ...strategies.map((strategy) => option("checkbox", "strategies", strategy)));
	return section;
}

/** Without a name of its own, the box is no part of the form. */
function missingOption({ name, description, profile }) {
	const label = option("checkbox", "", { name, description: `${profile ? `Needs the profile ${profile}` : "Not with the profiles of this shop"}. ${description}` });
	label.querySelector("input").disabled = true;
	return label;
}

/** How to get what is missing. */
function showProfiles(missing) {
	const profiles = [...new Set(missing.map(({ profile }) => profile).filter(Boolean))];
	document.getElementById("profiles").hidden = !profiles.length;
	document.getElementById("profiles-command").textContent =
		`mvn -pl sample-stock-app -am -DskipTests package spring-boot:run -Dspring-boot.run.profiles=${profiles}`;
}

function option(type, group, { name, description }) {
	const label = document.createElement("label");
	label.className = "choice";
	const input = Object.assign(document.createElement("input"), { type, name: group, value: name });
	const code = document.createElement("code");
	code.textContent = name;
	label.append(input, code);
	if (description) {
		const small = document.createElement("small");
		small.textContent = description;
		label.append(small);
	}
	return label;
}
