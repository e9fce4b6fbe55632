//! Tables that upstream's own code computed: the same verdict on every row.
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]
use base64::{Engine, engine::general_purpose::STANDARD};
use jiff::Timestamp;
use machineadm_discovery::{
    BootstrapToken, ClusterInfo, Expiry, Pin, Remaining, TokenId, TokenSettings,
    certificate::CaBundle,
    cluster_info::{self, Origin},
    jws::{self, Content},
    token_secret, usage,
};
use objects::{Bytes, ObjectMeta, Secret};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn table(text: &str, least: usize) -> Vec<Value> {
    rows(&serde_json::from_str(text).unwrap(), least)
}

fn rows(value: &Value, least: usize) -> Vec<Value> {
    let rows = value.as_array().unwrap().clone();
    assert!(rows.len() >= least, "only {} rows", rows.len());
    rows
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().map(|text| text.as_str().unwrap()).collect()
}

fn tokens() -> Value {
    serde_json::from_str(include_str!("vectors/token-tables.json")).unwrap()
}

#[test]
fn tokens_and_ids_are_accepted_as_upstream_does() {
    for row in rows(&tokens()["tokens"], 17) {
        let accepted = row["token"].as_str().unwrap().parse::<BootstrapToken>().is_ok();
        assert_eq!(json!([accepted, accepted]), json!([row["ParseToken_ok"], row["IsValidBootstrapToken"]]), "{row}");
    }
    for row in rows(&tokens()["ids"], 5) {
        assert_eq!(row["id"].as_str().unwrap().parse::<TokenId>().is_ok(), row["valid"], "{row}");
    }
    for row in rows(&tokens()["secret_names"], 6) {
        let id = token_secret::id_of(row["name"].as_str().unwrap());
        assert_eq!(id.as_ref().map_or("", TokenId::as_str), row["id"], "{row}");
        assert_eq!(id.is_some(), row["ok"], "{row}");
    }
}

#[test]
fn groups_and_usages_are_accepted_as_upstream_does() {
    for row in rows(&tokens()["groups"], 12) {
        assert_eq!(usage::is_group(row["group"].as_str().unwrap()), row["error"].is_null(), "{row}");
    }
    for row in rows(&tokens()["usages"], 5) {
        assert_eq!(usage::usages(&texts(&row["usages"])).is_ok(), row["error"].is_null(), "{row}");
    }
    for row in rows(&tokens()["usages_vs_groups"], 3) {
        let usages = usage::usages(&texts(&row["usages"])).unwrap();
        let errors = usage::check_groups(&usages, &texts(&row["groups"]));
        assert_eq!(errors.is_empty(), row["errors"] == "[]", "{row}: {errors:?}");
    }
    for row in rows(&tokens()["auth_extra_groups_to_groups"], 3) {
        let groups = usage::groups(row["auth-extra-groups"].as_str().unwrap());
        assert_eq!(json!(groups.ok()), row["groups"], "{row}");
    }
}

#[test]
fn an_expiration_is_read_as_go_reads_it() {
    let table: Value = serde_json::from_str(include_str!("vectors/expiration-table.json")).unwrap();
    let now: Timestamp = table["now"].as_str().unwrap().parse().unwrap();
    for row in rows(&table["cases"], 27) {
        let expiry = Expiry::read(Some(row["expiration"].as_str().unwrap().as_bytes()));
        assert_eq!(expiry == Expiry::Unreadable, !row["parse_error"].is_null(), "{row}");
        let (expired, remaining) = match expiry.remaining(now) {
            Remaining::Expired => (true, 0),
            Remaining::Forever => (false, 0),
            Remaining::For(span) => (false, span.as_nanoseconds()),
        };
        assert_eq!(json!([expired, remaining]), json!([row["expired"], row["remaining_ns"]]), "{row}");
    }
}

#[test]
fn signatures_are_upstreams_byte_for_byte() {
    for row in table(include_str!("vectors/jws-vectors.json"), 7) {
        let content = STANDARD.decode(row["content_b64"].as_str().unwrap()).unwrap();
        let jws =
            Content::new(&content).sign_raw(row["id"].as_str().unwrap(), row["secret"].as_str().unwrap().as_bytes());
        assert_eq!(jws, row["jws"], "{}", row["case"]);
        let token = format!("{}.{}", row["id"].as_str().unwrap(), row["secret"].as_str().unwrap()).parse();
        if let Ok(token) = token {
            assert_eq!(jws::sign(&token, &content), jws, "{}", row["case"]);
            assert_eq!(jws::verify(&jws, &token, &content), Ok(()), "{}", row["case"]);
        }
    }
}

/// The rows use a secret that no token has, so that acceptance is judged where it is decided: equality of bytes.
#[test]
fn a_signature_is_valid_exactly_when_upstream_says_so() {
    for row in table(include_str!("vectors/jws-validity.json"), 5) {
        let text = |member: &str| row[member].as_str().unwrap();
        let expected = Content::new(text("content").as_bytes()).sign_raw(text("id"), text("secret").as_bytes());
        assert_eq!(expected == text("jws"), row["valid"], "{row}");
    }
}

#[test]
fn pins_are_upstreams() {
    let table: Value = serde_json::from_str(include_str!("vectors/ca-pins.json")).unwrap();
    for row in rows(&table["certs"], 4) {
        let bundle = CaBundle::read(row["pem"].as_str().unwrap().as_bytes().to_vec()).unwrap();
        let certificates = bundle.certificates();
        assert_eq!(Pin::of(&certificates[0]).to_string(), row["hash"], "{}", row["case"]);
        // One is written as UTCTime, the other, beyond 2049, as GeneralizedTime.
        let ends = if row["case"].as_str().unwrap().contains("recordings") { "2036-11-12" } else { "2126-10-22" };
        assert_eq!(certificates[0].not_after.date(), ends, "{}", row["case"]);
    }
    for row in rows(&table["allow"], 8) {
        assert_eq!(row["pin"].as_str().unwrap().parse::<Pin>().is_ok(), row["error"].is_null(), "{row}");
    }
}

#[test]
fn kubeconfigs_have_upstreams_bytes() {
    let ours = |row: &Value| row["case"].as_str().unwrap().starts_with("cluster-info");
    let rows = table(include_str!("vectors/kubeconfig-bytes.json"), 3);
    assert_eq!(rows.iter().filter(|row| ours(row)).count(), 2);
    for row in rows.iter().filter(|row| ours(row)) {
        let cluster = &row["input"]["clusters"][""];
        let real = || CaBundle::read(include_bytes!("vectors/real/pki/ca.crt").to_vec()).unwrap();
        let roots = if cluster["ca"].is_null() { CaBundle::default() } else { real() };
        let info = ClusterInfo::new(cluster["server"].as_str().unwrap().to_owned(), roots, None).unwrap();
        assert_eq!(info.kubeconfig(), row["bytes"], "{}", row["case"]);
        let read = cluster_info::read(row["bytes"].as_str().unwrap().as_bytes(), Origin::Signed).unwrap();
        assert_eq!(read.info, info, "{}", row["case"]);
    }
    let kubelet = rows.iter().find(|row| !ours(row)).unwrap()["bytes"].as_str().unwrap();
    let problems = cluster_info::read(kubelet.as_bytes(), Origin::File).unwrap_err();
    assert_eq!(problems, [cluster_info::Problem::Credentials { path: "users[0].user.token".to_owned() }]);
}

/// Stricter than upstream, as the specification asks: half a pair and impersonation are refused too.
#[test]
fn files_with_credentials_are_refused() {
    const STRICTER: &[&str] = &["client cert only", "impersonate only"];
    let mut stricter = Vec::new();
    for row in table(include_str!("vectors/discovery-file-credentials.json"), 8) {
        let refused = cluster_info::read(row["kubeconfig"].as_str().unwrap().as_bytes(), Origin::File).is_err();
        if json!(refused) != row["HasAuthenticationCredentials"] {
            assert!(refused, "{row}");
            stricter.push(row["case"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(stricter, STRICTER);
}

#[test]
fn a_token_becomes_upstreams_secret() {
    let table: Value = serde_json::from_str(include_str!("vectors/token-secret-conversion.json")).unwrap();
    for row in rows(&table["BootstrapTokenToSecret"], 4) {
        let given = &row["in"];
        let mut settings = TokenSettings::new(given["token"].as_str().unwrap().parse().unwrap());
        settings.description = given["description"].as_str().unwrap_or_default().to_owned();
        settings.expires = given["expires"].as_str().map(|time| machineadm_discovery::expiry::rfc3339(time).unwrap());
        settings.usages = texts(&given["usages"]).into_iter().map(str::to_owned).collect();
        settings.groups = texts(&given["groups"]).into_iter().map(str::to_owned).collect();
        let secret = settings.secret();
        let plain = |bytes: &Bytes| String::from_utf8(bytes.expose().to_vec()).unwrap();
        let data: BTreeMap<_, _> = secret.data.iter().map(|(key, value)| (key.clone(), plain(value))).collect();
        let (name, namespace) = (&secret.metadata.name, &secret.metadata.namespace);
        let written = json!({"data": data, "name": name, "namespace": namespace, "type": secret.secret_type});
        assert_eq!(written, row["secret"]);
    }
}

#[test]
fn a_secret_becomes_upstreams_token() {
    let table: Value = serde_json::from_str(include_str!("vectors/token-secret-conversion.json")).unwrap();
    for row in rows(&table["BootstrapTokenFromSecret"], 8) {
        let data = row["data"].as_object().unwrap().iter();
        let data = data.map(|(key, value)| (key.clone(), value.as_str().unwrap().into())).collect();
        let metadata = ObjectMeta::named_in(token_secret::NAMESPACE, row["name"].as_str().unwrap());
        let read = TokenSettings::read(&Secret::new(metadata, token_secret::TYPE, data));
        assert_eq!(read.is_err(), row["token"].is_null(), "{row}");
        let Ok(settings) = read else { continue };
        let mut token = json!({"token": settings.token.expose().as_str()});
        if let Some(expires) = settings.expires {
            token["expires"] = json!(expires);
        }
        if !settings.usages.is_empty() {
            token["usages"] = json!(settings.usages);
        }
        assert_eq!(token, row["token"]);
        assert_eq!(settings.groups, [""; 0]);
    }
}
